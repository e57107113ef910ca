"""Brokers restarted one by one under groups and transactions: nothing is lost, doubled or torn.

``python -m tests.rounds rolls`` is the same at full size, for as many rounds as you like.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rounds.faults import Kind
from tests.rounds.rolling.load import Size
from tests.rounds.rolls import BROKERS, Plan, run

pytestmark = pytest.mark.usefixtures("leaves_nothing")

SMALL = Size(groups=3, movers=1, members=2, producers=4, partitions=3, rate=20)


@pytest.mark.parametrize("kind", [Kind.STOP, Kind.KILL], ids=lambda kind: kind.name.lower())
def test_nothing_is_lost_doubled_or_torn(kind: Kind, tmp_path: Path) -> None:
    plan = Plan(1, 120.0, tmp_path / "evidence", kinds=(kind,), size=SMALL, between_s=0.5)
    outcome = run(plan)
    assert outcome.faults == []
    assert len(outcome.stable_after_s) == BROKERS
