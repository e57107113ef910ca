from __future__ import annotations

import itertools

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.deeds import DEEDS, Deeds, deed
from logquake.cluster.running.fault import Fault


class Hurt:
    """A cluster that can be hit, and says what was healed."""

    def __init__(self) -> None:
        self.deeds = Deeds(now_us=itertools.count(1_000_000).__next__)
        self.healed: list[int] = []
        self.incurable: set[int] = set()

    @deed
    def hit(self, broker_id: int, *, hard: bool = False) -> Fault:  # noqa: ARG002 - is told
        return Fault(f"broker-{broker_id}", {}, lambda: self._heal(broker_id))

    @deed
    def stroke(self, broker_id: int) -> str:
        return f"broker-{broker_id}"

    def _heal(self, broker_id: int) -> None:
        if broker_id in self.incurable:
            raise ClusterError(f"{broker_id} is dead for good")
        self.healed.append(broker_id)

    def told(self) -> list[str]:
        return [one.what for one in self.deeds.done]


@pytest.fixture(autouse=True, scope="module")
def _table_as_it_was() -> object:
    yield
    del DEEDS["hit"], DEEDS["stroke"]


def test_deeds_are_told_with_their_arguments_and_whom_they_meant() -> None:
    cluster = Hurt()
    cluster.hit(2, hard=True).heal()
    cluster.stroke(1)
    assert cluster.told() == ["hit 2 hard=True (broker-2)", "healed: hit 2 hard=True (broker-2)",
                              "stroke 1"]  # fmt: skip
    assert [one.at_us for one in cluster.deeds.done] == [1_000_000, 1_000_001, 1_000_002]


def test_a_deed_is_shown_at_its_time() -> None:
    cluster = Hurt()
    cluster.stroke(1)
    assert str(cluster.deeds.done[0]).endswith(":01.000  stroke 1")


def test_what_stands_is_healed_newest_first_and_once() -> None:
    cluster = Hurt()
    first, second = cluster.hit(1), cluster.hit(2)
    with cluster.hit(3):
        assert [one.member for one in cluster.deeds.standing] == [
            "broker-1",
            "broker-2",
            "broker-3",
        ]
    cluster.deeds.heal()
    assert cluster.healed == [3, 2, 1]
    assert not cluster.deeds.standing
    first.heal()
    second.heal()
    assert cluster.healed == [3, 2, 1]


def test_a_fault_that_cannot_be_healed_keeps_no_other_from_it_and_still_stands() -> None:
    cluster = Hurt()
    cluster.incurable |= {2, 3}
    for broker_id in (1, 2, 3):
        cluster.hit(broker_id)
    with pytest.raises(ClusterError, match="3 is dead for good") as raised:
        cluster.deeds.heal()
    assert raised.value.__notes__ == ["2 is dead for good"]
    assert cluster.healed == [1]
    assert [one.member for one in cluster.deeds.standing] == ["broker-2", "broker-3"]


def test_what_was_done_is_forgotten_and_what_stands_is_not() -> None:
    cluster = Hurt()
    cluster.hit(1)
    cluster.deeds.forget()
    assert not cluster.told()
    cluster.deeds.heal()
    assert cluster.told() == ["healed: hit 1 (broker-1)"]


def test_methods_that_do_something_are_in_the_table() -> None:
    assert {"hit", "stroke"} <= DEEDS.keys()
