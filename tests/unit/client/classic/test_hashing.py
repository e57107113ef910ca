"""Hashes as Java has them; the expected ones were printed by a JVM."""

from __future__ import annotations

import pytest

from logquake.client.classic.hashing import absolute, java_hash
from logquake.client.classic.partitioner import DefaultPartitioner


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", 0),
        ("key", 106079),
        ("polygenelubricants", -(2**31)),
        (b"", 1),
        (b"key", 135870),
        (b"\xff\x00\x80", 28702),
        (7, 7),
        (-7, -7),
        (2**31, -(2**31)),
        (-(2**31) - 1, -(2**31)),
        (True, 1231),
        (False, 1237),
        (1.5, 1073217536),
        (float("nan"), 2146959360),
    ],
)
def test_the_hash_of(key: object, expected: int) -> None:
    assert java_hash(key) == expected


def test_the_smallest_int_has_no_absolute_value() -> None:
    assert [absolute(number) for number in (-(2**31), -5, 5)] == [0, 5, 5]


def test_the_default_partitioner_takes_the_remainder() -> None:
    partitioner = DefaultPartitioner()
    assert partitioner.partition("polygenelubricants", 7) == 0
    assert partitioner.partition("key", 10) == 9
    assert partitioner.partition(-7, 4) == 3
