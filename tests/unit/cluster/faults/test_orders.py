from __future__ import annotations

import json

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import (
    DieAtCall,
    FailCalls,
    Limit,
    Order,
    SkewClock,
    SlowCalls,
    SlowStart,
    Starve,
    StrobeClock,
    from_json,
    to_json,
)

EVERY_KIND: list[Order] = [
    FailCalls(("write", "sync"), "orders-0/*", 3, 1, error="ENOSPC"),
    SlowCalls(("sync",), delay_ms=2.5),
    DieAtCall(("rename",), "*.swap"),
    SkewClock(-500, drift_ppm=20.5),
    StrobeClock(3_600_000, every_ms=250),
    SlowStart(1_000),
    Starve(0.5, seed=7),
    Limit("files", 100),
]


@pytest.mark.parametrize("order", EVERY_KIND, ids=lambda order: order.kind)
def test_an_order_travels_as_json(order: Order) -> None:
    assert from_json(json.loads(json.dumps(to_json(order)))) == order


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "no order 'None'"),
        ({"kind": "flood"}, "no order 'flood': choose of fail-calls, "),
        ({"kind": "slow-calls", "speed": 1}, "slow-calls: .* 'speed'"),
        ({"kind": "strobe-clock", "ms": 1}, "strobe-clock: .* 'every_ms'"),
        ({"kind": "strobe-clock", "ms": 1, "every_ms": 0}, "cannot jump every 0 ms"),
        ({"kind": "fail-calls", "calls": ["flush"]}, "no call 'flush'"),
        ({"kind": "fail-calls", "error": "EOOPS"}, "no error 'EOOPS'"),
        ({"kind": "fail-calls", "calls": "write"}, "calls='write' is no tuple"),
        ({"kind": "fail-calls", "calls": [["write"]]}, "fail-calls: "),
        ({"kind": "slow-calls", "delay_ms": "5"}, "delay_ms='5' is no float"),
        ({"kind": "fail-calls", "nth": 0}, "counted from 1 on"),
        ({"kind": "starve", "share": 1}, "a share of 1 cannot be stopped"),
        ({"kind": "starve", "share": 0.5, "shortest_ms": 500}, "no slices of 500 to 400 ms"),
        ({"kind": "limit", "resource": "luck", "limit": 1}, "no limit of 'luck'"),
    ],
)
def test_what_is_no_order_is_refused_in_one_line(document: dict[str, object], said: str) -> None:
    with pytest.raises(ClusterError, match=said):
        from_json(document)


@pytest.mark.parametrize("document", [None, 7, "fail-calls", ["fail-calls"]])
def test_an_order_is_an_object(document: object) -> None:
    with pytest.raises(ClusterError, match="an order is an object, not "):
        from_json(document)
