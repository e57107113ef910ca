"""Columns of rows, as Arrow has them, as numbers: names and the like are dictionaries there."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from logquake.chaos.evidence.clients import NONE, Column, Numbers
from logquake.chaos.evidence.stored import Mask


def integers(column: pa.Array, null: int = NONE) -> Column:
    found: Column = column.fill_null(null).to_numpy(zero_copy_only=False)
    return found


def valid(column: pa.Array) -> Column:
    return np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))


def equals(column: pa.Array, text: str) -> Mask:
    found: Mask = pc.equal(column, text).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def translated(column: pa.DictionaryArray, number_of: Callable[[str], int]) -> Numbers:
    """A number for each name that is there; NONE for a null."""
    names = column.dictionary.to_pylist()
    places = integers(column.indices.cast(pa.int64()))
    is_there = np.zeros(len(names) + 1, np.bool_)  # the last is for a null
    is_there[places] = True
    numbers = np.full(len(names) + 1, NONE, np.int32)
    for at in np.flatnonzero(is_there[:-1]).tolist():
        numbers[at] = number_of(names[at])
    return numbers[places]


def counted(column: pa.DictionaryArray, chosen: Mask) -> dict[str, int]:
    """How many of the chosen rows have each name."""
    counts = np.bincount(column.indices.to_numpy()[chosen])
    names = column.dictionary.to_pylist()
    return {names[at]: int(counts[at]) for at in np.flatnonzero(counts).tolist()}


def is_among(column: pa.DictionaryArray, names: Collection[str]) -> Mask:
    """Of each row: whether the column names one of these."""
    known = np.array([name in names for name in column.dictionary.to_pylist()], np.bool_)
    found: Mask = known[column.indices.to_numpy()]
    return found
