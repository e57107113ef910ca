"""The checker on tiny literal histories, good and bad: it must tell each fault by its name."""

from __future__ import annotations

import pytest

from logquake.chaos.demo.checks import Verdict, check_readback
from logquake.chaos.history.outcomes import Outcomes
from logquake.chaos.workloads.readback import ReadRecord

PAIRS = [(b"a", b"1"), (b"b", b"1"), (b"a", b"2"), (b"a", b"3")]
ACKS = [(0, 0), (1, 0), (0, 1), (0, 2)]


def history(outcomes: str = "oooo") -> Outcomes:
    """One letter a send: o acked, u unknown, x refused."""
    made = Outcomes()
    for letter, (partition, offset) in zip(outcomes, ACKS, strict=True):
        number = made.sent()
        if letter == "o":
            made.ack(number, partition, offset)
        elif letter == "x":
            made.refuse(number)
        else:
            made.lose_sight(number, "_MSG_TIMED_OUT")
    return made


def read(*numbers: int) -> list[ReadRecord]:
    return [ReadRecord(*ACKS[n], *PAIRS[n]) for n in numbers]


def judge(sends: Outcomes, records: list[ReadRecord]) -> Verdict:
    return check_readback(sends, PAIRS.__getitem__, records)


def test_everything_acked_is_read_once_in_order() -> None:
    verdict = judge(history(), read(0, 2, 3, 1))
    assert verdict.holds
    assert (verdict.sent, verdict.acked, verdict.read) == (4, 4, 4)


def test_an_acked_record_that_is_gone_is_lost() -> None:
    verdict = judge(history(), read(0, 1, 2))
    assert (verdict.lost, verdict.holds) == (1, False)
    assert "send 3 was acked at 0@2 and is gone" in verdict.examples


def test_an_unknown_send_may_be_there_or_not() -> None:
    assert judge(history("ouoo"), read(0, 1, 2, 3)).holds
    assert judge(history("ouoo"), read(0, 2, 3)).holds


def test_a_refused_send_that_is_read_is_a_phantom() -> None:
    verdict = judge(history("oxoo"), read(0, 1, 2, 3))
    assert (verdict.phantom, verdict.holds) == (1, False)


def test_a_record_nobody_sent_is_a_phantom() -> None:
    verdict = judge(history(), [*read(0, 1, 2, 3), ReadRecord(1, 1, b"b", b"9")])
    assert (verdict.phantom, verdict.holds) == (1, False)


def test_a_record_that_is_there_twice_is_a_duplicate() -> None:
    verdict = judge(history(), [*read(0, 1, 2, 3), ReadRecord(0, 3, *PAIRS[3])])
    assert (verdict.duplicated, verdict.holds) == (1, False)


def test_a_place_that_is_read_twice_is_a_duplicate() -> None:
    assert judge(history(), read(0, 0, 1, 2, 3)).duplicated == 1


def test_other_content_at_an_acked_place_is_a_change() -> None:
    records = [*read(0, 1, 2), ReadRecord(0, 2, b"a", b"other")]
    verdict = judge(history(), records)
    assert (verdict.changed, verdict.holds) == (1, False)


def test_a_key_whose_records_swapped_is_out_of_order() -> None:
    sends = Outcomes()
    for number, offset in enumerate([0, 0, 2, 1]):
        sends.ack(sends.sent(), ACKS[number][0], offset)
    records = [
        ReadRecord(0, 0, *PAIRS[0]),
        ReadRecord(0, 1, *PAIRS[3]),
        ReadRecord(0, 2, *PAIRS[2]),
        ReadRecord(1, 0, *PAIRS[1]),
    ]
    verdict = judge(sends, records)
    assert (verdict.out_of_order, verdict.holds) == (1, False)


@pytest.mark.parametrize("outcomes", ["uuuu", "xxxx"])
def test_nothing_acked_and_nothing_read_holds(outcomes: str) -> None:
    assert judge(history(outcomes), []).holds


def test_an_unknown_send_that_is_there_twice_is_a_duplicate() -> None:
    verdict = judge(history("ouoo"), [*read(0, 1, 2, 3), ReadRecord(1, 1, *PAIRS[1])])
    assert (verdict.duplicated, verdict.phantom) == (1, 0)
