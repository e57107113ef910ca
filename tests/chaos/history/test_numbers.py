from __future__ import annotations

from itertools import islice

import pytest

from logquake.chaos.history.numbers import number_of, numbers, to_headers, to_value
from logquake.chaos.history.rows import NOT_SENT


def test_no_two_processes_have_a_number_in_common() -> None:
    assert list(islice(numbers(0), 2)) == [0, 1]
    assert next(numbers(3)) == 3 << 40


def test_a_number_is_read_back_out_of_a_record_of_any_size() -> None:
    number = next(numbers(7))
    assert number_of(to_value(number)) == number
    assert number_of(to_value(number, 100)) == number
    assert len(to_value(number, 100)) == 100


def test_a_tombstone_has_its_number_in_a_header() -> None:
    assert number_of(None, [("trace", None), *to_headers(812)]) == 812


def test_what_has_a_value_of_its_own_has_its_number_in_a_header() -> None:
    assert number_of(b"13", to_headers(812)) == 812
    assert number_of(b"13", [("trace", b"1")]) == 13


@pytest.mark.parametrize("value", [None, b"", b"text", b"-5", b"1.5", b"9" * 19, b"\xff"])
def test_other_records_have_none(value: bytes | None) -> None:
    assert number_of(value) == NOT_SENT
