"""Offsets and leader epochs from batch to batch, through all segments of a partition."""

from __future__ import annotations

from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.verify.findings import Findings
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_LEADER_EPOCH

_NOWHERE = 2**63 - 1


class OrderCheck:
    """``next_offset`` is where the next batch has to begin; None before the first.

    epochs is None when they are not known. start_offset is where the log starts, None when its
    checkpoint may be behind: DeleteRecords moves the epochs' start at once.
    """

    def __init__(
        self,
        epochs: LeaderEpochs | None,
        findings: Findings,
        *,
        start_offset: int | None,
        gaps_allowed: bool,
    ) -> None:
        self.next_offset: int | None = None
        self._epochs = epochs
        self._findings = findings
        self._start_offset = start_offset
        self._gaps_allowed = gaps_allowed
        self._latest_epoch = NO_LEADER_EPOCH
        self._has_message_sets = False

    def begin_segment(self, path: str, base_offset: int) -> None:
        if self.next_offset is not None and base_offset < self.next_offset:
            self._findings.damage(
                "overlap", path, f"begins before offset {self.next_offset}, where the last one ends"
            )
        elif self.next_offset is None:
            self.next_offset = base_offset
        elif base_offset > self.next_offset:
            self._gap(path, base_offset)
            self.next_offset = base_offset

    def batch(self, path: str, header: BatchHeader, first_offset: int) -> None:
        expected = self.next_offset or 0
        if first_offset < expected:
            self._findings.damage(
                "offset-order", path, f"offset {first_offset} follows offset {expected - 1}"
            )
        elif first_offset > expected:
            self._gap(path, first_offset)
        self.next_offset = max(expected, header.next_offset)
        if header.is_legacy:
            self._has_message_sets = True
        else:
            self._check_epoch(path, header)

    def skip(self, header: BatchHeader) -> None:
        """A batch that was found damaged takes its place all the same."""
        self.next_offset = max(self.next_offset or 0, header.next_offset)

    def _gap(self, path: str, offset: int) -> None:
        if self._gaps_allowed:
            return
        first = self.next_offset or 0
        self._findings.damage(
            "gap",
            path,
            f"offsets {first} to {offset - 1} are missing: lost, unless the topic is compacted "
            "(then say --compacted TOPIC)",
        )

    def _check_epoch(self, path: str, header: BatchHeader) -> None:
        epoch = header.partition_leader_epoch
        if epoch < self._latest_epoch:
            self._findings.damage(
                "epoch-order",
                path,
                f"leader epoch {epoch} at offset {header.base_offset} follows {self._latest_epoch}",
            )
            return
        self._latest_epoch = epoch
        if self._epochs is None or epoch < 0 or header.base_offset < self._judged_from(epoch):
            return
        known = self._epochs.epoch_for(header.base_offset)
        if known != epoch:
            says = "nothing" if known is None else known
            self._findings.damage(
                "epoch",
                path,
                f"leader epoch {epoch} at offset {header.base_offset}, "
                f"where leader-epoch-checkpoint says {says}",
            )

    def _judged_from(self, epoch: int) -> int:
        """Where the batches of an epoch begin that must be in the checkpoint."""
        entries = self._epochs.entries if self._epochs is not None else ()
        if self._has_message_sets and not entries:
            return _NOWHERE  # a Kafka told to write message sets again empties it
        if self._start_offset is not None:
            return self._start_offset
        return entries[0].start_offset if entries and entries[0].epoch >= epoch else 0
