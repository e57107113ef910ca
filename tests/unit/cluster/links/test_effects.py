from __future__ import annotations

import json
from typing import Any

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.effects import (
    CLEAR,
    Conditions,
    Cut,
    Delay,
    DropAfter,
    Effect,
    HalfOpen,
    LinkFault,
    Path,
    Rate,
    Reset,
    together,
)

PATH = Path(("broker-1",), ("broker-2", "zookeeper"))


@pytest.mark.parametrize(
    "effect", [Cut(), Reset(), Delay(20, 5), Rate(1e6), DropAfter(100), HalfOpen()]
)
def test_a_fault_comes_back_from_its_document(effect: Effect) -> None:
    fault = LinkFault(effect, (PATH, PATH.reversed()))
    assert LinkFault.from_json(json.loads(json.dumps(fault.to_json()))) == fault


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kind": "cut"},
        {"kind": "burn", "paths": []},
        {"kind": "delay", "paths": []},
        {"kind": "delay", "ms": "long", "paths": []},
        {"kind": "delay", "ms": -1, "paths": []},
        {"kind": "rate", "bytes_per_s": 0, "paths": []},
        {"kind": "drop", "size_bytes": -1, "paths": []},
        {"kind": "cut", "paths": [["broker-1"]]},
    ],
)
def test_what_makes_no_sense_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ClusterError):
        LinkFault.from_json(document)


def test_a_fault_acts_on_the_directions_it_names() -> None:
    fault = LinkFault(Cut(), (PATH,))
    assert fault.acts_on("broker-1", "broker-2")
    assert not fault.acts_on("broker-2", "broker-1")
    assert not fault.acts_on("clients", "broker-2")


def test_zookeeper_means_every_server() -> None:
    fault = LinkFault(Cut(), (PATH,))
    assert fault.acts_on("broker-1", "zookeeper")
    assert fault.acts_on("broker-1", "zookeeper-3")
    one = LinkFault(Cut(), (Path(("broker-1",), ("zookeeper-2",)),))
    assert one.acts_on("broker-1", "zookeeper-2")
    assert not one.acts_on("broker-1", "zookeeper-3")


def test_effects_add_up() -> None:
    effects: list[tuple[int, Effect]] = [
        (1, Delay(20, 5)),
        (2, Rate(1000)),
        (3, Delay(10)),
        (4, Rate(500)),
    ]
    assert together(effects) == Conditions(delay_ms=30, jitter_ms=5, bytes_per_s=500)
    assert together([(7, DropAfter(9)), (8, Cut())]) == Conditions(
        is_cut=True, drop_after=((7, 9),)
    )
    assert together([(1, HalfOpen())]) == Conditions(keeps_ends=True)
    assert together([(1, Reset())]) == CLEAR


def test_a_fault_says_what_it_is() -> None:
    fault = LinkFault(Delay(20, 5), (PATH,))
    assert str(fault) == "delay 20 ms +-5 ms: broker-1 -> broker-2,zookeeper"
