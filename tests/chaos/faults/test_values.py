"""Faults as people write them, and what is done for each."""

from __future__ import annotations

import inspect
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from logquake.chaos.faults.any_fault import AnyFault
from logquake.chaos.faults.performing import OWN, can_be_done
from logquake.chaos.faults.processes import Kill
from logquake.chaos.faults.value import FaultValue
from logquake.cluster.running.deeds import DEEDS

FAULT: TypeAdapter[FaultValue] = TypeAdapter(AnyFault)
CLASSES: tuple[type[FaultValue], ...] = get_args(get_args(AnyFault)[0])
KINDS = {one.model_fields["kind"].default: one for one in CLASSES}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"kind": "kill", "target": "leader:orders/0"}, "kill leader:orders/0"),
        ({"kind": "partition", "groups": [[1], [2, 3]]}, "partition groups=[[1], [2, 3]]"),
        (
            {"kind": "delay", "source": "clients", "target": "broker-2", "ms": 200},
            "delay clients to broker-2 ms=200",
        ),
        (
            {"kind": "inject", "target": "2", "api": "Produce", "drop": "response", "times": 3},
            "inject 2 api=Produce drop=response times=3",
        ),
        ({"kind": "delete-controller"}, "delete-controller"),
        (
            {"kind": "cut-file", "target": "2", "path": "orders-0/*.log"},
            "cut-file 2 path=orders-0/*.log",
        ),
        (
            {"kind": "clock-skew", "target": "2", "drift_ppm": 500.0},
            "clock-skew 2 drift_ppm=500.0",
        ),
        (
            {"kind": "restart-storm", "target": "1", "times": 5, "pause": "0.1s"},
            "restart-storm 1 times=5 pause=0.1s",
        ),
    ],
)
def test_a_fault_is_written_as_it_was_read(written: dict[str, Any], said: str) -> None:
    fault = FAULT.validate_python(written)
    assert FAULT.dump_python(fault, mode="json") == written
    assert str(fault) == said


def test_a_broker_may_be_written_as_a_number() -> None:
    assert FAULT.validate_python({"kind": "kill", "target": 2}) == Kill(target="2")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"kind": "kil", "target": "2"}, "does not match any of the expected tags"),
        ({"kind": "kill"}, "Field required"),
        ({"kind": "kill", "target": "2", "ms": 3}, "Extra inputs"),
        ({"kind": "delay", "source": "a", "target": "b", "ms": 0}, "greater than 0"),
        ({"kind": "inject", "target": 2, "api": "Fetch"}, "say one of error"),
        ({"kind": "inject", "api": "Fetch", "error": "NONE", "reorder": True}, "say one of error"),
        ({"kind": "restart-storm", "target": "1", "pause": "soon"}, "'soon' is no time"),
    ],
)
def test_what_is_no_fault_is_refused(written: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        FAULT.validate_python(written)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_a_fault_says_is_what_its_deed_asks_for(kind: str) -> None:
    name = kind.replace("-", "_")
    if kind in OWN or name not in DEEDS:
        assert can_be_done(kind) == (kind in OWN)
        return
    fields = dict.fromkeys(KINDS[kind].model_fields.keys() - {"kind"})
    inspect.signature(DEEDS[name]).bind("a cluster", **fields)
