"""ZooKeeper for threads that wait: what is asked, what is told, and what comes too late."""

from __future__ import annotations

import pytest

from logquake.client.classic.coordination import nodes
from logquake.client.classic.errors import ZooKeeperError, ZooKeeperTimeoutError
from logquake.client.errors import ClosedError
from logquake.zk.operations import Create, Exists
from logquake.zk.procedure import perform
from logquake.zk.znodes.json_text import MalformedZnode
from tests.unit.client.classic.conftest import NewZk
from tests.unit.client.classic.model_zookeeper import SharedZooKeeper
from tests.waiting import wait_for


async def make(path: str, data: bytes = b"") -> None:
    await nodes.create_with_parents(Create(path, data))


async def data_of(path: str) -> bytes | None:
    there = await nodes.read(path)
    return None if there is None else there.data


def test_what_a_procedure_asks_for_is_done(new_zk: NewZk) -> None:
    zk, other = new_zk(), new_zk()
    zk.run(nodes.put("/a/b/c", b"1"))
    zk.run(nodes.put("/a/b/c", b"2"))
    assert other.run(data_of("/a/b/c")) == b"2"
    assert other.run(data_of("/nowhere")) is None


def test_what_a_procedure_raises_is_raised_to_who_waits(new_zk: NewZk) -> None:
    async def wrong() -> None:
        raise KeyError("wrong")

    zk = new_zk()
    with pytest.raises(KeyError):
        zk.run(wrong())
    zk.run(make("/a"))
    with pytest.raises(ZooKeeperError, match="NodeExists /a"):
        zk.run(make("/a"))


def test_a_node_that_makes_no_sense(new_zk: NewZk) -> None:
    async def nonsense() -> None:
        raise MalformedZnode("no offset")

    with pytest.raises(ZooKeeperError, match="no offset"):
        new_zk().run(nonsense())


def test_who_waits_gives_up(new_zk: NewZk, zookeeper: SharedZooKeeper) -> None:
    zk = new_zk(call_timeout_ms=20)
    zookeeper.is_silent = True
    with pytest.raises(ZooKeeperTimeoutError):
        zk.run(make("/a"))
    zk.close()
    with pytest.raises(ClosedError):
        zk.run(make("/a"))


def test_what_changes_is_told(new_zk: NewZk) -> None:
    told: list[str] = []
    zk, other = new_zk(told), new_zk()

    async def look() -> None:
        await perform(Exists("/a", watch=True))

    zk.run(look())
    other.run(make("/a"))
    wait_for("event", lambda: told, lambda found: found == ["/a"])


def test_another_session_is_told(new_zk: NewZk, zookeeper: SharedZooKeeper) -> None:
    told: list[str] = []
    zk = new_zk(told)
    first = zk.session_id
    zookeeper.expire(first)
    wait_for("session", lambda: told, lambda found: found == ["a new session"])
    assert zk.session_id != first


def test_a_node_is_claimed_once(new_zk: NewZk) -> None:
    one, two = new_zk(), new_zk()
    assert one.run(nodes.claim("/owners/t/0", b"one", one.session_id))
    assert one.run(nodes.claim("/owners/t/0", b"one again", one.session_id))
    assert not two.run(nodes.claim("/owners/t/0", b"two", two.session_id))
    assert two.run(data_of("/owners/t/0")) == b"one again"


def test_only_ones_own_is_given_up(new_zk: NewZk) -> None:
    one, two = new_zk(), new_zk()
    one.run(nodes.claim("/owner", b"one", one.session_id))
    two.run(nodes.give_up("/owner", two.session_id))
    assert one.run(data_of("/owner")) == b"one"
    one.run(nodes.give_up("/owner", one.session_id))
    assert one.run(data_of("/owner")) is None
    assert two.run(nodes.claim("/owner", b"two", two.session_id))


def test_what_was_claimed_goes_with_its_session(new_zk: NewZk, zookeeper: SharedZooKeeper) -> None:
    one, two = new_zk(), new_zk()
    one.run(nodes.claim("/owner", b"one", one.session_id))
    zookeeper.expire(one.session_id)
    assert two.run(nodes.claim("/owner", b"two", two.session_id))
