"""Which requests a fault acts on, and how it is written down."""

from __future__ import annotations

import json
from typing import Any

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.actions import (
    Action,
    Close,
    Delay,
    Drop,
    Duplicate,
    Fail,
    Hold,
    Notice,
    Reorder,
)
from logquake.cluster.links.requests.rules import RequestFault, RuleBook
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader

ACTIONS: list[Action] = [
    Fail(ErrorCode.NOT_CONTROLLER),
    Delay(5, Way.RESPONSES),
    Drop(Way.RESPONSES),
    Close(),
    Duplicate(),
    Reorder(),
    Hold(Way.RESPONSES),
    Notice(),
]


def acted(fault: RequestFault, *headers: RequestHeader) -> list[bool]:
    book = RuleBook()
    book.begin(1, fault)
    return [any(book.take("clients", "broker-2", header)) for header in headers]


def produce(version: int = 9, client_id: str = "a") -> RequestHeader:
    return RequestHeader(ApiKey.PRODUCE, version, 1, client_id)


FETCH = RequestHeader(ApiKey.FETCH, 9, 1, "a")


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: type(action).__name__)
def test_a_fault_is_read_as_it_was_written(action: Action) -> None:
    fault = RequestFault(
        ApiKey.FETCH, action, ("broker-1",), (), "a", (3, 5), skip=1, times=2, rate=0.5, seed=7
    )
    written = json.loads(json.dumps(fault.to_json()))
    assert RequestFault.from_json(written) == fault


@pytest.mark.parametrize(
    "wrong",
    [
        {"api": "Produc"},
        {"action": {"kind": "vanish"}},
        {"action": {"kind": "fail", "error": "NOT_AN_ERROR"}},
        {"action": {"kind": "hold", "way": "sideways"}},
        {"action": {"kind": "delay", "ms": -1}},
        {"action": {"kind": "delay"}},
        {"rate": 0},
        {"rate": 1.5},
        {"skip": -1},
        {"times": 0},
        {"odd": 1},
    ],
    ids=str,
)
def test_nonsense_is_refused(wrong: dict[str, Any]) -> None:
    sound = {"kind": "request", "api": "Produce", "action": {"kind": "duplicate"}}
    RequestFault.from_json(sound)
    with pytest.raises(ClusterError):
        RequestFault.from_json({**sound, **wrong})


def test_it_acts_on_requests_of_its_api_versions_and_client() -> None:
    assert acted(RequestFault(ApiKey.PRODUCE, Drop()), produce(), FETCH) == [True, False]
    versions = RequestFault(ApiKey.PRODUCE, Drop(), versions=(8, 9))
    assert acted(versions, produce(7), produce(8), produce(9), produce(10)) == [
        False,
        True,
        True,
        False,
    ]
    client = RequestFault(ApiKey.PRODUCE, Drop(), client_id="b")
    assert acted(client, produce(), produce(client_id="b")) == [False, True]


def test_it_acts_on_links_that_it_names() -> None:
    fault = RequestFault(ApiKey.PRODUCE, Drop(), sources=("clients",))
    assert fault.is_on("clients", "broker-2")
    assert not fault.is_on("broker-1", "broker-2")
    fault = RequestFault(ApiKey.PRODUCE, Drop(), targets=("broker-2",))
    assert fault.is_on("clients", "broker-2")
    assert not fault.is_on("clients", "broker-1")
    assert acted(RequestFault(ApiKey.PRODUCE, Drop(), targets=("broker-1",)), produce()) == [False]


def test_it_lets_some_pass_and_then_acts_so_many_times() -> None:
    fault = RequestFault(ApiKey.PRODUCE, Drop(), skip=2, times=2)
    assert acted(fault, *[produce()] * 6) == [False, False, True, True, False, False]


def test_a_rate_is_drawn_from_its_seed() -> None:
    def drawn(seed: int) -> list[bool]:
        fault = RequestFault(ApiKey.PRODUCE, Drop(), rate=0.3, seed=seed)
        return acted(fault, *[produce()] * 1_000)

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert 200 < sum(drawn(1)) < 400


def test_a_time_in_vain_does_not_count() -> None:
    book = RuleBook()
    book.begin(1, RequestFault(ApiKey.PRODUCE, Reorder(), times=1))
    assert any(book.take("clients", "broker-2", produce()))
    book.was_in_vain(1)
    assert any(book.take("clients", "broker-2", produce()))
    assert not any(book.take("clients", "broker-2", produce()))


def test_it_says_what_it_does() -> None:
    fault = RequestFault(
        ApiKey.PRODUCE,
        Fail(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ("clients",),
        ("broker-2",),
        skip=1,
        times=3,
        rate=0.5,
    )
    assert str(fault) == (
        "Produce fails with NOT_LEADER_OR_FOLLOWER: clients -> broker-2, 3 times, after 1, "
        "at a rate of 0.5"
    )
