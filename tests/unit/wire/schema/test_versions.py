from __future__ import annotations

import pytest

from logquake.wire.schema.versions import NO_VERSIONS, Versions


@pytest.mark.parametrize("text", ["none", "0+", "3+", "0-11", "2"])
def test_a_range_is_written_as_it_was_read(text: str) -> None:
    assert str(Versions.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("3+", [3, 4, 32767], [2, -1]), ("1-2", [1, 2], [0, 3]), ("5", [5], [4, 6])],
)
def test_what_a_range_holds(text: str, inside: list[int], outside: list[int]) -> None:
    versions = Versions.parse(text)
    assert all(version in versions for version in inside)
    assert not any(version in versions for version in outside)


def test_no_versions_is_false_and_holds_none() -> None:
    assert not NO_VERSIONS
    assert 0 not in NO_VERSIONS
    assert list(NO_VERSIONS) == []
    assert Versions.parse("0")


def test_a_range_is_walked_in_order() -> None:
    assert list(Versions.parse("2-4")) == [2, 3, 4]
