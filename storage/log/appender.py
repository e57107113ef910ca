"""What may be appended to a log, and at which offsets: the checks before a write.

No disk here. A staged batch counts at once for what is staged after it (offsets, sequences,
leader epochs) and is undone by roll_back().
"""

from __future__ import annotations

from logquake.storage.log.appended import Appended
from logquake.storage.log.leader_epochs import EpochEntry, LeaderEpochs
from logquake.storage.log.produced_batches import ProducedBatch, ProducedBatches
from logquake.storage.log.replicated_batches import check_replicated
from logquake.storage.log.staging import Roll, Run, Staging
from logquake.storage.log_config import LogConfig, TimestampType
from logquake.storage.producers.entry import BatchMetadata
from logquake.storage.producers.recovery import replay_control
from logquake.storage.producers.snapshot import encode_snapshot
from logquake.storage.producers.state import ProducerStates
from logquake.storage.producers.verification import VerificationGuard
from logquake.storage.segments.segment import MAX_RELATIVE_OFFSET, Segment, StagedBatch
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchHeader,
    patch_base,
    read_end_marker,
    read_header,
    set_max_timestamp,
)
from logquake.wire.sentinels import NO_TIMESTAMP, UNKNOWN_OFFSET

_NOTHING = Appended(UNKNOWN_OFFSET, UNKNOWN_OFFSET, NO_TIMESTAMP, NO_TIMESTAMP, False, 0)


class LogAppender:
    def __init__(
        self, partition: str, config: LogConfig, producers: ProducerStates, epochs: LeaderEpochs
    ) -> None:
        """partition is topic-partition, for those who are refused."""
        self.end_offset = 0
        self._produced = ProducedBatches(partition, config)
        self._producers = producers
        self._epochs = epochs
        self._staging = Staging(config, partition)
        self._epochs_before: tuple[EpochEntry, ...] | None = None
        self.configure(config)

    def configure(self, config: LogConfig) -> None:
        self._config = config
        self._staging.config = config
        self._append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        self._produced.configure(config)
        self._producers.verifications.required = config.transactions_verified

    @property
    def runs(self) -> list[Run]:
        """What is staged, in order."""
        return self._staging.runs

    def keep(self) -> None:
        """Everything staged is written."""
        self._producers.keep()
        self._epochs_before = None
        self._staging.clear()

    def roll_back(self, end_offset: int, active: Segment) -> None:
        """Forget everything staged; the log ends at end_offset."""
        self._producers.roll_back()
        if self._epochs_before is not None:
            self._epochs.restore(self._epochs_before)
            self._epochs_before = None
        self.end_offset = end_offset
        self._staging.follow(active)

    # As leader

    def stage_as_leader(
        self,
        records: memoryview,
        leader_epoch: int,
        now_ms: int,
        *,
        header: BatchHeader | None,
        guard: VerificationGuard | None,
        internal: bool,
    ) -> Appended:
        if internal:
            batch = self._internal(records, guard)
        else:
            accepted = self._produced.accept(records, header, now_ms)
            if accepted is None:
                return _NOTHING
            batch = accepted
            if batch.header.producer_id >= 0:
                duplicate = self._producers.check(batch.header, guard)
                if duplicate is not None:
                    return self._repeated(duplicate)
            batch = self._produced.in_topic_codec(batch)
        return self._place(batch, leader_epoch, now_ms)

    def _internal(self, records: memoryview, guard: VerificationGuard | None) -> ProducedBatch:
        header = read_header(records)
        if header.size > self._config.max_message_bytes:
            raise RecordError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"batch of {header.size} bytes, the limit is {self._config.max_message_bytes}",
            )
        if header.has_producer_id:
            marker = read_end_marker(records, 0, header) if header.is_control else None
            self._producers.check_internal(header, marker, guard)
        return ProducedBatch(records, header, header.max_timestamp)

    def _place(self, batch: ProducedBatch, leader_epoch: int, now_ms: int) -> Appended:
        """Give the batch its offsets, epoch and times, in place, and stage it."""
        records, header, timestamp = batch
        size = header.size
        if size > self._config.segment_bytes:
            raise RecordError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"batch of {size} bytes for segments of {self._config.segment_bytes}",
            )
        first_offset = self.end_offset
        patch_base(records, 0, first_offset, leader_epoch)
        if self._append_time:
            timestamp = now_ms
        set_max_timestamp(
            records, 0, header, log_append_time=self._append_time, max_timestamp=timestamp
        )
        self._roll_if_due(header, first_offset, timestamp, now_ms)
        self._assign_epoch(leader_epoch, first_offset)
        staged = records if len(records) == size else records[:size]
        self._stage(staged, header, first_offset, timestamp)
        append_time_ms = now_ms if self._append_time else NO_TIMESTAMP
        return Appended(first_offset, self.end_offset - 1, timestamp, append_time_ms, False, size)

    def _repeated(self, batch: BatchMetadata) -> Appended:
        """As the time of its append Kafka tells the batch's own, whatever the topic's times are."""
        return Appended(
            batch.first_offset, batch.last_offset, batch.timestamp, batch.timestamp, True, 0
        )

    # As follower

    def stage_as_follower(self, records: memoryview, now_ms: int) -> Appended:
        batches = check_replicated(records, self.end_offset, self._epochs.latest or 0)
        first_offset = batches[0][1].base_offset if batches else self.end_offset
        max_timestamp = NO_TIMESTAMP
        size = 0
        for position, header in batches:
            self._roll_if_due(header, header.base_offset, header.max_timestamp, now_ms)
            self._follow_epoch(header)
            batch = records[position : position + header.size]
            self._stage(batch, header, header.base_offset, header.max_timestamp)
            max_timestamp = max(max_timestamp, header.max_timestamp)
            size += header.size
        return Appended(first_offset, self.end_offset - 1, max_timestamp, NO_TIMESTAMP, False, size)

    def _follow_epoch(self, header: BatchHeader) -> None:
        """Message sets know no epochs: where one comes, the known epochs tell nothing any more."""
        if not header.is_legacy:
            self._assign_epoch(header.partition_leader_epoch, header.base_offset)
        elif self._epochs.entries:
            self._remember_epochs()
            self._epochs.clear()

    # Both

    def _roll_if_due(
        self, header: BatchHeader, first_offset: int, timestamp: int, now_ms: int
    ) -> None:
        """Before the batch counts for anything: this may read the disk, and so fail."""
        last_offset = first_offset + header.last_offset_delta
        if self._staging.must_roll(header.size, last_offset, timestamp, now_ms):
            snapshot = encode_snapshot(self._producers.entries())
            roll = Roll(self._roll_at(first_offset, last_offset), snapshot)
            self._staging.begin_segment(roll, now_ms)

    def _stage(
        self, batch: memoryview, header: BatchHeader, first_offset: int, timestamp: int
    ) -> None:
        last_offset = first_offset + header.last_offset_delta
        aborted = None
        if header.is_control:
            header = header._replace(base_offset=first_offset)
            aborted = replay_control(self._producers, batch, header)
        else:
            self._producers.append_data(header, first_offset, timestamp)
        self._staging.add(StagedBatch(batch, first_offset, last_offset, timestamp), aborted)
        self.end_offset = last_offset + 1

    def _roll_at(self, first_offset: int, last_offset: int) -> int:
        """Where the batch begins, as in Kafka; a gap before it is what compaction left.

        Of a log that is not compacted recovery takes a gap between segments for a loss: there the
        gap, if it is not too wide, lies within the new segment.
        """
        is_near = last_offset - self.end_offset <= MAX_RELATIVE_OFFSET
        return self.end_offset if is_near and not self._config.compacted else first_offset

    def _assign_epoch(self, epoch: int, start_offset: int) -> None:
        if epoch < 0 or epoch == self._epochs.latest:
            return
        self._remember_epochs()
        self._epochs.assign(epoch, start_offset)

    def _remember_epochs(self) -> None:
        if self._epochs_before is None:
            self._epochs_before = self._epochs.entries
