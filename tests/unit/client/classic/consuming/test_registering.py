"""A consumer that comes back under its name waits until its last session is over."""

from __future__ import annotations

from threading import Event

import pytest

from logquake.client.classic.consuming.group import ids_path
from logquake.client.classic.consuming.registering import Registering
from logquake.client.classic.consuming.registration import StaticTopics
from logquake.client.classic.coordination import nodes
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.errors import NotRegisteredError
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.settings.reading import read
from tests.unit.client.classic.conftest import NewZk
from tests.unit.client.classic.model_zookeeper import SharedZooKeeper
from tests.unit.client.cluster_in_memory import FakeClock

WANTED = StaticTopics({"t": 1})
NODE = f"{ids_path('g')}/me"


class Waits(Event):
    """Nobody stops; the session ends once somebody has waited for so long, if it is to end."""

    def __init__(self, zookeeper: SharedZooKeeper, session_id: int, lasts_s: float | None) -> None:
        super().__init__()
        self.waited_s = 0.0
        self._zookeeper = zookeeper
        self._session_id = session_id
        self._lasts_s = lasts_s

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waited_s += timeout
        if self._lasts_s is not None and self.waited_s >= self._lasts_s:
            self._zookeeper.expire(self._session_id)
        return False


def register(zk: ZkClient, session_timeout_ms: int, stopping: Event) -> None:
    keys = {
        "zookeeper.connect": "model",
        "group.id": "g",
        "zookeeper.session.timeout.ms": session_timeout_ms,
    }
    Registering("me", read(ConsumerConfig, keys), FakeClock()).register(zk, WANTED, stopping)


@pytest.fixture
def last(new_zk: NewZk) -> ZkClient:
    """Its session has the node."""
    last = new_zk()
    assert last.run(nodes.claim(NODE, b"{}", last.session_id))
    return last


@pytest.mark.parametrize("asked_ms", [500, 4_000, 30_000])
def test_a_session_that_lasts_longer_than_it_was_asked_to_is_waited_out(
    asked_ms: int, last: ZkClient, new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    """ZooKeeper rounds up, and has a least time."""
    zk, stopping = new_zk(), Waits(zookeeper, last.session_id, lasts_s=9)
    register(zk, asked_ms, stopping)
    assert stopping.waited_s < 9 + asked_ms / 1_000
    there = zk.run(nodes.read(NODE))
    assert there is not None
    assert there.stat.ephemeral_owner == zk.session_id


def test_a_name_that_is_anothers_is_refused_in_the_end(
    last: ZkClient, new_zk: NewZk, zookeeper: SharedZooKeeper
) -> None:
    stopping = Waits(zookeeper, last.session_id, lasts_s=None)
    with pytest.raises(NotRegisteredError, match="registered by somebody else"):
        register(new_zk(), 1_000, stopping)
    assert stopping.waited_s == 18
