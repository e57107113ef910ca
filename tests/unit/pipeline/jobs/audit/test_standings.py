"""How far somebody was behind, out of looks at partitions and of what was handed out."""

from __future__ import annotations

from logquake.chaos.history.rows import Kind, Row
from logquake.pipeline.jobs.audit.standings import lags_of_readers, lags_of_replicas

NEVER = {"g": float("inf")}


def look(at_us: int, subject: str, high_watermark: int | None, **log_ends: int) -> Row:
    ends = {name.removeprefix("b"): end for name, end in log_ends.items()}
    after = {"log_ends": ends}
    return Row(at_us, "harness", 1, Kind.OBSERVED, subject, offset=high_watermark, after=after)


def test_a_group_is_behind_by_what_it_was_not_handed_of_the_partitions_that_it_has() -> None:
    looks = [look(1, "orders-0", 10), look(1, "orders-1", 100), look(5, "orders-0", 30)]
    handed_out = [("g", "orders-0", 4, 2), ("g", "orders-1", 100, 6), ("g", "orders-0", 30, 7)]
    lags = lags_of_readers(looks, handed_out, NEVER, float)
    assert lags == {"g": [(2, 6), (5, 26), (6, 26), (7, 0)]}


def test_who_goes_back_is_behind_by_what_it_was_handed_first() -> None:
    """It has that already: what it is handed again is told as duplicates."""
    handed_out = [("g", "orders-0", 8, 2), ("g", "orders-0", 3, 3)]
    assert lags_of_readers([look(1, "orders-0", 10)], handed_out, NEVER, float)["g"][-1] == (3, 2)


def test_nobody_is_behind_after_its_end() -> None:
    looks = [look(1, "orders-0", 10), look(9, "orders-0", 99)]
    lags = lags_of_readers(looks, [("g", "orders-0", 10, 2)], {"g": 3.0}, float)
    assert lags == {"g": [(2, 0)]}


def test_a_broker_that_does_not_answer_falls_behind() -> None:
    looks = [
        look(1, "orders-0", 5, b1=5, b2=5),
        look(2, "orders-0", 5, b1=9),
        look(3, "orders-1", 0, b2=2, b1=0),
        look(4, "orders-0", 9, b1=9, b2=9),
    ]
    assert lags_of_replicas(looks, float) == {
        "broker 1": [(1, 0), (2, 0), (3, 2), (4, 2)],
        "broker 2": [(1, 0), (2, 4), (3, 4), (4, 0)],
    }
