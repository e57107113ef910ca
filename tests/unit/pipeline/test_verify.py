"""Comparing what was acknowledged with what a topic holds."""

from __future__ import annotations

from logquake.pipeline.verify import Difference, differences


def test_equal_counts_differ_in_nothing() -> None:
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_missing_unexpected_and_miscounted_keys_are_named_in_order() -> None:
    assert differences({"a": 1, "b": 2, "c": 3}, {"b": 1, "c": 3, "d": 4}) == [
        Difference("a", expected=1, found=0),
        Difference("b", expected=2, found=1),
        Difference("d", expected=0, found=4),
    ]
