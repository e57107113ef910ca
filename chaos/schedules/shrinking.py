"""The fewest faults with which a run still fails.

Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002):
leave out halves, then quarters, and so on, as long as what is left fails. At the end no fault can
be left out alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def shrunk(parts: Sequence[T], fails: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """A part of ``parts``, in their order, that fails while it without any one of them does not.

    ``fails`` is asked about nothing first: what fails without any part has nothing to shrink. It is
    not asked about ``parts`` themselves, which are known to fail, nor about anything twice; O(n²)
    times at worst, O(log n) times where one part alone is to blame.
    Where it answers by chance, as a run does, what is left has failed once and the rest is as
    certain as its answers: ask it to try more than once before it says no.
    """
    if fails(()):
        return ()
    asked: dict[tuple[int, ...], bool] = {}

    def still_fails(indices: tuple[int, ...]) -> bool:
        if indices not in asked:
            asked[indices] = fails(tuple(parts[index] for index in indices))
        return asked[indices]

    left, pieces = tuple(range(len(parts))), 2
    while pieces <= len(left):
        smaller = next(filter(still_fails, _smaller(left, pieces)), None)
        if smaller is None:
            pieces = len(left) + 1 if pieces == len(left) else min(2 * pieces, len(left))
        else:
            # Where one of n pieces was left out, the others are as fine as they have to be.
            pieces = 2 if len(smaller) <= len(left) // pieces + 1 else max(pieces - 1, 2)
            left = smaller
    return tuple(parts[index] for index in left)


def _smaller(indices: tuple[int, ...], pieces: int) -> Iterator[tuple[int, ...]]:
    """Each of the pieces alone, then everything but one piece."""
    bounds = [len(indices) * piece // pieces for piece in range(pieces + 1)]
    cuts = list(pairwise(bounds))
    for begin, end in cuts:
        yield indices[begin:end]
    if pieces > 2:
        for begin, end in cuts:
            yield indices[:begin] + indices[end:]
