"""A column of keys or values: its bytes, and how many each cell has."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from logquake.pipeline.sink.encoding.numbers import Numbers

NULL_SIZE = -1  # as a record says it


def bounds_in(column: pa.Array) -> NDArray[np.int32]:
    """Of bytes: where in their buffer each cell begins, and where the last ends."""
    if not len(column):
        return np.zeros(1, np.int32)
    everywhere = np.frombuffer(column.buffers()[1], np.int32)
    return everywhere[column.offset : column.offset + len(column) + 1]


class Cells:
    """``content`` has no nulls: what is null is empty there, and its size below 0."""

    def __init__(self, content: pa.Array, are_null: NDArray[np.bool_]) -> None:
        self.content = content
        self.are_null = are_null

    @classmethod
    def of(cls, column: pa.Array) -> Self:
        """Raises ArrowInvalid for more than Arrow has in one column."""
        content = column.cast(pa.binary())
        if not column.null_count:
            return cls(content, np.zeros(len(column), np.bool_))
        return cls(content.fill_null(b""), column.is_null().to_numpy(zero_copy_only=False))

    def __len__(self) -> int:
        return len(self.content)

    @cached_property
    def bounds(self) -> NDArray[np.int32]:
        return bounds_in(self.content)

    @property
    def data(self) -> NDArray[np.uint8]:
        buffer = self.content.buffers()[2]
        return np.frombuffer(buffer, np.uint8) if buffer else np.zeros(0, np.uint8)

    @property
    def sizes(self) -> Numbers:
        return np.where(self.are_null, NULL_SIZE, np.diff(self.bounds)).astype(np.int64)

    def take(self, places: Numbers) -> Cells:
        return Cells(self.content.take(pa.array(places)), self.are_null[places])
