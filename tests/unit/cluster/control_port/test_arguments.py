from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, Unpack

import pytest

from logquake.cluster.control_port.application import waits
from logquake.cluster.control_port.arguments import ArgumentError, Arguments
from logquake.cluster.running.deeds import DEEDS
from logquake.cluster.running.fault import Fault

FAULT = Fault("broker-1", {}, lambda: None)


class Until(TypedDict, total=False):
    for_s: float | None
    stays: bool


class Hurt:
    def delay(self, source: int | str, ms: float, *, both: bool = False) -> None: ...
    def partition(self, *groups: int | Iterable[int], for_s: float | None = None) -> None: ...
    def wait(self, topic: str, since: Fault, timeout: float = 60.0) -> None: ...
    def create(self, config: Mapping[str, object] | None = None) -> None: ...
    def slow(self, calls: tuple[str, ...] = ("write",), **until: Unpack[Until]) -> None: ...
    def eventually(self, check: Callable[[], object]) -> None: ...


def bound(method: Callable[..., object], **sent: Any) -> Any:
    return Arguments(method).bound(sent, lambda _fault_id: FAULT)


def test_values_are_handed_on_by_name() -> None:
    assert bound(Hurt.delay, source="clients", ms=2, both=True) == (
        [],
        {"source": "clients", "ms": 2, "both": True},
    )
    assert bound(Hurt.create, config={"a": 1}) == ([], {"config": {"a": 1}})


def test_several_of_something_are_a_list() -> None:
    assert bound(Hurt.partition, groups=[1, [2, 3]], for_s=None) == ([1, [2, 3]], {"for_s": None})
    assert bound(Hurt.partition) == ([], {})


def test_keywords_of_a_dictionary_are_arguments_of_their_own() -> None:
    assert bound(Hurt.slow, calls=["fsync"], stays=True) == (
        [],
        {"calls": ("fsync",), "stays": True},
    )
    assert Arguments(Hurt.slow).described()["for_s"] == "float | None = None"
    with pytest.raises(ArgumentError, match="stays=1: it takes bool"):
        bound(Hurt.slow, stays=1)


def test_a_fault_is_told_by_its_id() -> None:
    assert bound(Hurt.wait, topic="orders", since=7) == ([], {"topic": "orders", "since": FAULT})


@pytest.mark.parametrize(
    ("method", "sent", "said"),
    [
        (Hurt.delay, {"ms": 1}, "source is missing: there are source, ms, both"),
        (Hurt.delay, {"source": 1, "ms": 1, "far": 1}, "no argument 'far': there are source"),
        (Hurt.delay, {"source": 1, "ms": "1"}, "ms='1': it takes float"),
        (Hurt.delay, {"source": 1, "ms": True}, "ms=True: it takes float"),
        (Hurt.delay, {"source": [], "ms": 1}, r"source=\[\]: it takes int | str"),
        (Hurt.delay, {"source": 1, "ms": 1, "both": 0}, "both=0: it takes bool = False"),
        (Hurt.partition, {"groups": 1}, "groups is a list"),
        (Hurt.partition, {"groups": [["a"]]}, "it takes a list of"),
        (Hurt.wait, {"topic": "orders", "since": "x"}, "since='x': it takes the id of a fault"),
        (Hurt.create, {"config": [1]}, "it takes"),
    ],
)
def test_what_makes_no_sense_is_told(
    method: Callable[..., object], sent: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentError, match=said):
        bound(method, **sent)


def test_a_function_cannot_be_sent() -> None:
    assert not Arguments(Hurt.eventually).can_be_sent
    assert Arguments(Hurt.wait).can_be_sent


def test_every_deed_and_wait_of_a_cluster_can_be_asked_for() -> None:
    assert {"kill", "partition", "restart"} <= DEEDS.keys()
    assert {"isr", "leader_change", "group_stable"} <= waits().keys()
    for name, method in {**DEEDS, **waits()}.items():
        assert Arguments(method).can_be_sent, name
