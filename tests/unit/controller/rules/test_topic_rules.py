"""Names and assignments of new topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from logquake.controller.rules.topic_rules import (
    TopicRefused,
    check_assignment,
    check_collisions,
    check_name,
)
from logquake.wire.errors import ErrorCode

T = TypeVar("T")


def refusal(check: Callable[[T], None], asked: T) -> ErrorCode | None:
    try:
        check(asked)
    except TopicRefused as refused:
        return refused.code
    return None


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "x" * 249, "__consumer_offsets"])
def test_good_names(name: str) -> None:
    assert refusal(check_name, name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "é", "a\n"])
def test_bad_names(name: str) -> None:
    assert refusal(check_name, name) is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_names_collide_by_dot_and_underscore_only() -> None:
    check_collisions("a-b", ["a.b", "a_b"])
    check_collisions("a.b", ["a-b", "ab", "a.c"])
    with pytest.raises(TopicRefused, match=r"collides with existing topics: a\.b"):
        check_collisions("a_b", ["c", "a.b"])


def test_good_assignment() -> None:
    assert refusal(check_assignment, {1: (2, 3), 0: (1, 2)}) is None


@pytest.mark.parametrize(
    "assignment",
    [{}, {0: ()}, {0: (1,), 1: (1, 2)}, {0: (1, 1)}, {1: (1,)}, {0: (1,), 2: (1,)}, {-1: (1,)}],
)
def test_bad_assignments(assignment: dict[int, tuple[int, ...]]) -> None:
    assert refusal(check_assignment, assignment) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
