"""Full collections look only at what is new, and what goes then needs none."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from logquake.node.process.heap import keep_collections_short, settle_heap


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What is frozen stays so: what was imported for all the other tests is, too."""
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    yield
    gc.set_threshold(*thresholds)
    gc.callbacks[:] = callbacks


def test_what_a_full_collection_left_is_never_looked_at_again() -> None:
    keep_collections_short()
    kept = [[number] for number in range(1_000)]
    settle_heap()
    assert gc.get_freeze_count() > len(kept)
    assert not any(each is kept for each in gc.get_objects())


def test_cycles_that_are_new_are_still_found() -> None:
    class Node:
        def __init__(self) -> None:
            self.itself = self

    keep_collections_short()
    settle_heap()
    node = weakref.ref(Node())
    assert node() is not None
    settle_heap()
    assert node() is None


def test_it_may_be_asked_for_twice() -> None:
    keep_collections_short()
    callbacks: list[Any] = list(gc.callbacks)
    keep_collections_short()
    assert gc.callbacks == callbacks
