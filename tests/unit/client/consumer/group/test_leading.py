"""What a leader makes of the members' assignors."""

from __future__ import annotations

import pytest

from logquake.client.consumer.assignors.assignor import Assignor, RebalanceProtocol
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.assignors.sticky import StickyAssignor
from logquake.client.consumer.group.leading import by_name, protocol_of


class OnlyCooperative(RangeAssignor):
    name = "only-cooperative"
    protocols = (RebalanceProtocol.COOPERATIVE,)


@pytest.mark.parametrize(
    ("assignors", "protocol"),
    [
        ([RangeAssignor()], RebalanceProtocol.EAGER),
        ([CooperativeStickyAssignor()], RebalanceProtocol.COOPERATIVE),
        ([RangeAssignor(), CooperativeStickyAssignor()], RebalanceProtocol.EAGER),
        ([CooperativeStickyAssignor(), OnlyCooperative()], RebalanceProtocol.COOPERATIVE),
    ],
)
def test_a_member_goes_by_the_most_that_all_its_assignors_can(
    assignors: list[Assignor], protocol: RebalanceProtocol
) -> None:
    assert protocol_of(assignors) is protocol


@pytest.mark.parametrize("assignors", [[], [StickyAssignor(), OnlyCooperative()]])
def test_assignors_without_a_protocol_in_common_are_refused(assignors: list[Assignor]) -> None:
    with pytest.raises(ValueError, match="no rebalance protocol"):
        protocol_of(assignors)


class AnotherRange(RangeAssignor):
    """A program's own, which has kept the name."""


def test_assignors_of_the_same_name_are_refused() -> None:
    ours, own = RangeAssignor(), OnlyCooperative()
    assert by_name([ours, own]) == {"range": ours, "only-cooperative": own}
    with pytest.raises(ValueError, match="more than one assignor is called range"):
        by_name([ours, AnotherRange()])
