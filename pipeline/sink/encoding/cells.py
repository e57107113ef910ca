"""A column of keys or values: its bytes, and how many each cell has."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from logquake.pipeline.sink.encoding.numbers import Numbers, sizes_of

NULL_SIZE = -1  # as a record says it


class Cells:
    """``content`` has no nulls: what is null is empty there, and its size below 0."""

    def __init__(self, content: pa.Array, are_null: NDArray[np.bool_] | None) -> None:
        self.content = content
        self._are_null = are_null

    def __len__(self) -> int:
        return len(self.content)

    @classmethod
    def of(cls, column: pa.Array) -> Self:
        """Raises ArrowInvalid for what is no text or bytes."""
        are_null = _numpy(column.is_null()) if column.null_count else None
        return cls(column.cast(pa.binary()).fill_null(b""), are_null)

    @cached_property
    def bounds(self) -> NDArray[np.int32]:
        """Where in ``data`` each begins, and where the last ends."""
        content = self.content
        if not len(content):
            return np.zeros(1, np.int32)
        everywhere = np.frombuffer(content.buffers()[1], np.int32)
        return everywhere[content.offset : content.offset + len(content) + 1]

    @property
    def data(self) -> NDArray[np.uint8]:
        buffer = self.content.buffers()[2]
        return np.frombuffer(buffer, np.uint8) if buffer else np.zeros(0, np.uint8)

    @cached_property
    def are_null(self) -> NDArray[np.bool_]:
        return np.zeros(len(self), np.bool_) if self._are_null is None else self._are_null

    @cached_property
    def sizes(self) -> Numbers:
        sizes = np.diff(self.bounds).astype(np.int64)
        if self._are_null is not None:
            sizes[self._are_null] = NULL_SIZE
        return sizes

    @cached_property
    def encoded_sizes(self) -> Numbers:
        """With the size before each."""
        return sizes_of(self.sizes) + np.diff(self.bounds)

    def take(self, places: Numbers) -> Cells:
        are_null = None if self._are_null is None else self._are_null[places]
        return Cells(self.content.take(pa.array(places)), are_null)

    def part(self, start: int, end: int) -> Cells:
        are_null = None if self._are_null is None else self._are_null[start:end]
        return Cells(self.content.slice(start, end - start), are_null)


def _numpy(bits: pa.Array) -> NDArray[np.bool_]:
    array: NDArray[np.bool_] = bits.to_numpy(zero_copy_only=False)
    return array
