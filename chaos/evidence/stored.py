"""One replica's log as its files have it: batches and the numbers of their records, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from logquake.wire.records import BatchFlag, ControlType

Column = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MISSING = -2  # no record has that offset
NO_MARKER = -1

# One batch. ``marker`` is a ControlType, or NO_MARKER for what is none.
BATCH = np.dtype(
    [
        ("first", "i8"),
        ("next", "i8"),
        ("producer_id", "i8"),
        ("epoch", "i4"),
        ("size", "i4"),
        ("crc", "i8"),
        ("sequence", "i4"),
        ("producer_epoch", "i2"),
        ("attributes", "i2"),
        ("marker", "i2"),
    ]
)

# What became of a record's transaction, as the log tells it.
PLAIN, COMMITTED, ABORTED, OPEN = range(4)


@dataclass(frozen=True, eq=False)
class StoredLog:
    """``broker`` holds these batches of a partition, the log begins at ``start``.

    ``offsets`` and ``values`` are of the records that a producer sent; a value is the number of its
    send, NOT_SENT for what no workload sent. ``epochs`` is what leader-epoch-checkpoint says;
    ``damage`` why the reading ended before the end of the file, None if it did not.
    """

    broker: int
    start: int
    batches: np.ndarray  # of BATCH, in the order of the files
    offsets: Column
    values: Column
    epochs: Sequence[tuple[int, int]] = ()
    damage: str | None = None

    @cached_property
    def end(self) -> int:
        return int(self.batches["next"][-1]) if len(self.batches) else self.start

    def values_at(self, offsets: Column) -> Column:
        """The number of the record at each; MISSING where there is none."""
        if not len(self.offsets):
            return np.full(len(offsets), MISSING, np.int64)
        at = np.minimum(np.searchsorted(self.offsets, offsets), len(self.offsets) - 1)
        return np.where(self.offsets[at] == offsets, self.values[at], MISSING)

    def batches_of(self, offsets: Column) -> Column:
        """The index of each offset's batch; the number of batches beyond the last."""
        return np.searchsorted(self.batches["next"], offsets, side="right")

    @cached_property
    def is_control(self) -> Mask:
        """Of each batch."""
        control: Mask = (self.batches["attributes"] & int(BatchFlag.CONTROL)) != 0
        return control

    @cached_property
    def fates(self) -> Column:
        """What became of each batch's transaction: the next marker of its producer decides."""
        batches = self.batches
        found = np.full(len(batches), PLAIN, np.int64)
        is_transactional = (batches["attributes"] & int(BatchFlag.TRANSACTIONAL)) != 0
        data = np.flatnonzero(is_transactional & ~self.is_control)
        markers = np.flatnonzero(batches["marker"] != NO_MARKER)
        _, owner = np.unique(batches["producer_id"], return_inverse=True)
        key = owner * (len(batches) + 1) + np.arange(len(batches))
        marker_keys = np.sort(key[markers])
        ordered = markers[np.argsort(key[markers])]
        at = np.searchsorted(marker_keys, key[data])
        is_ended = at < len(ordered)
        following = ordered[np.minimum(at, len(ordered) - 1)] if len(ordered) else at
        if len(ordered):
            is_ended &= owner[following] == owner[data]
        found[data] = OPEN
        ended = data[is_ended]
        kinds = batches["marker"][following[is_ended]]
        found[ended] = np.where(kinds == ControlType.COMMIT, COMMITTED, ABORTED)
        return found

    @cached_property
    def record_fates(self) -> Column:
        fates: Column = self.fates[self.batches_of(self.offsets)]
        return fates

    @cached_property
    def committed_offsets(self) -> Column:
        """Of the records that a reader of committed records sees."""
        fates = self.record_fates
        visible: Column = self.offsets[(fates == PLAIN) | (fates == COMMITTED)]
        return visible

    def first_of_epoch(self, epoch: int) -> int:
        """Where the batches of that leader epoch, or of a later one, begin; the end if nowhere."""
        later = np.flatnonzero(self.batches["epoch"] >= epoch)
        return int(self.batches["first"][later[0]]) if len(later) else self.end
