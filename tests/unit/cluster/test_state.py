from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

from logquake.cluster.state import NO_PORT, ClusterState, Ending, MemberState, Phase

RUNNING = MemberState("broker-1", "127.0.0.1", 9092, Phase.RUNNING, 11, 1000, None)
KILLED = MemberState(
    "broker-2", "127.0.0.1", 9093, Phase.ENDED, None, 2000, Ending(2000, "SIGKILL", None, True)
)
ZOOKEEPER = MemberState("zookeeper", "127.0.0.1", 2181, Phase.RUNNING, 10, 900, None)
STATE = ClusterState("default", 9, "fast_failover", "127.0.0.1:2181", (ZOOKEEPER, RUNNING, KILLED))


def test_a_state_comes_back_from_its_document() -> None:
    assert ClusterState.from_json(json.loads(json.dumps(STATE.to_json()))) == STATE


def test_zookeeper_is_no_broker() -> None:
    assert [broker.broker_id for broker in STATE.brokers] == [1, 2]
    assert STATE.bootstrap_servers == "127.0.0.1:9092,127.0.0.1:9093"
    assert ZOOKEEPER.broker_id is None


def test_the_links_are_no_broker_and_have_many_addresses() -> None:
    links = MemberState("links", "127.0.0.1", NO_PORT, Phase.RUNNING, 12, 950, None)
    state = replace(STATE, members=(*STATE.members, links))
    assert [broker.broker_id for broker in state.brokers] == [1, 2]
    assert (links.broker_id, links.address) == (None, "-")


@pytest.mark.parametrize(
    ("return_code", "asked", "text"),
    [
        (-signal.SIGKILL, True, "killed by SIGKILL"),
        (-signal.SIGSEGV, False, "killed by SIGSEGV, unasked"),
        (0, True, "exited with status 0"),
        (1, False, "exited with status 1, unasked"),
    ],
)
def test_an_ending_says_how(return_code: int, asked: bool, text: str) -> None:
    assert str(Ending.of(return_code, at_ms=1, asked=asked)) == text
