"""A short share of ``python -m tests.fuzz.live``: mutated requests of every key to live brokers."""

from __future__ import annotations

import pytest

from tests.fuzz.live.campaign import Plan, run

pytestmark = pytest.mark.usefixtures("leaves_nothing")


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(Plan(requests=2_000, seed=1), id="open"),
        pytest.param(Plan(requests=1_000, seed=2, brokers=3, secure=True), id="secure"),
        pytest.param(Plan(requests=600, seed=3, quota=True), id="over-quota"),
    ],
)
def test_no_broker_minds_and_nobody_else_is_disturbed(plan: Plan) -> None:
    outcome = run(plan)
    assert outcome.holds, str(outcome)
    assert outcome.findings.answered > plan.requests // 4
    assert bool(outcome.findings.throttled) == plan.quota
