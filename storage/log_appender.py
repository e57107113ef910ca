"""What may be appended to a log, and at which offsets: the checks before a write.

No disk here. A staged batch counts at once for what is staged after it (offsets, sequences,
leader epochs) and is undone by roll_back().
"""

from __future__ import annotations

from logquake.storage.appended import NO_APPEND_TIME, Appended
from logquake.storage.leader_epochs import EpochEntry, LeaderEpochs
from logquake.storage.log_config import LogConfig, TimestampType
from logquake.storage.producer_entry import BatchMetadata
from logquake.storage.producer_recovery import replay_control
from logquake.storage.producer_snapshot import encode_snapshot
from logquake.storage.producer_state import ProducerStates
from logquake.storage.segment import Segment, StagedBatch
from logquake.storage.staging import Roll, Run, Staging
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchHeader,
    Codec,
    ProduceLimits,
    check_crc,
    iterate_batches,
    patch_base,
    read_end_marker,
    read_header,
    recompress,
    set_max_timestamp,
    validate_produced,
)


class LogAppender:
    def __init__(self, config: LogConfig, producers: ProducerStates, epochs: LeaderEpochs) -> None:
        self.end_offset = 0
        self._producers = producers
        self._epochs = epochs
        self._staging = Staging(config)
        self._epochs_before: tuple[EpochEntry, ...] | None = None
        self.configure(config)

    def configure(self, config: LogConfig) -> None:
        self._config = config
        self._staging.config = config
        self._append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
        self._limits = ProduceLimits(
            max_batch_bytes=config.max_message_bytes,
            compacted=config.compacted,
            log_append_time=self._append_time,
            timestamp_before_max_ms=config.timestamp_before_max_ms,
            timestamp_after_max_ms=config.timestamp_after_max_ms,
        )

    @property
    def runs(self) -> list[Run]:
        """What is staged, in order."""
        return self._staging.runs

    def keep(self, active: Segment) -> None:
        """Everything staged is written; active is the segment that was written last."""
        self._producers.keep()
        self._epochs_before = None
        self._staging.follow(active)

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
        self, records: memoryview, leader_epoch: int, now_ms: int, *, internal: bool
    ) -> Appended:
        header = read_header(records)
        size = header.size
        if size > self._config.segment_bytes:
            raise RecordError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"batch of {size} bytes for segments of {self._config.segment_bytes}",
            )
        if internal:
            self._check_internal(records, header)
            timestamp = header.max_timestamp
        else:
            timestamp = validate_produced(records, 0, header, self._limits, now_ms)
            if header.producer_id >= 0:
                duplicate = self._producers.check(header)
                if duplicate is not None:
                    return self._repeated(duplicate)
        if self._config.compression not in (None, header.codec) and not internal:
            records, header = self._recompressed(records, header)
            size = header.size
        first_offset = self.end_offset
        patch_base(records, 0, first_offset, leader_epoch)
        if self._append_time:
            timestamp = now_ms
        set_max_timestamp(
            records, 0, header, log_append_time=self._append_time, max_timestamp=timestamp
        )
        self._assign_epoch(leader_epoch, first_offset)
        batch = records if len(records) == size else records[:size]
        self._stage(batch, header, first_offset, timestamp)
        append_time_ms = now_ms if self._append_time else NO_APPEND_TIME
        return Appended(first_offset, self.end_offset - 1, timestamp, append_time_ms, False, size)

    def _check_internal(self, records: memoryview, header: BatchHeader) -> None:
        if header.has_producer_id:
            marker = read_end_marker(records, 0, header) if header.is_control else None
            self._producers.check_internal(header, marker)

    def _recompressed(
        self, records: memoryview, header: BatchHeader
    ) -> tuple[memoryview, BatchHeader]:
        codec = self._config.compression or Codec.NONE
        limit_bytes = self._limits.max_decompressed_bytes
        again = memoryview(recompress(records, 0, header, codec, limit_bytes))
        return again, read_header(again)

    def _repeated(self, batch: BatchMetadata) -> Appended:
        append_time_ms = batch.timestamp if self._append_time else NO_APPEND_TIME
        return Appended(
            batch.first_offset, batch.last_offset, batch.timestamp, append_time_ms, True, 0
        )

    # As follower

    def stage_as_follower(self, records: memoryview) -> Appended:
        batches = self._check_replicated(records)
        first_offset = batches[0][1].base_offset if batches else self.end_offset
        max_timestamp = -1
        size = 0
        for position, header in batches:
            self._assign_epoch(header.partition_leader_epoch, header.base_offset)
            batch = records[position : position + header.size]
            self._stage(batch, header, header.base_offset, header.max_timestamp)
            max_timestamp = max(max_timestamp, header.max_timestamp)
            size += header.size
        return Appended(
            first_offset, self.end_offset - 1, max_timestamp, NO_APPEND_TIME, False, size
        )

    def _check_replicated(self, records: memoryview) -> list[tuple[int, BatchHeader]]:
        batches = list(iterate_batches(records))
        expected = self.end_offset
        epoch = self._epochs.latest or 0
        for position, header in batches:
            check_crc(records, position, header)
            self._check_place(header, expected, epoch)
            if header.is_control and header.record_count:
                read_end_marker(records, position, header)
            expected = header.next_offset
            epoch = header.partition_leader_epoch
        return batches

    def _check_place(self, header: BatchHeader, expected: int, epoch: int) -> None:
        """Only compaction leaves gaps; elsewhere one means that batches were lost on the way."""
        offset = header.base_offset
        if offset < expected or (offset > expected and not self._config.compacted):
            raise RecordError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"the leader sent offset {offset} where {expected} comes next",
            )
        if header.last_offset_delta < 0 or header.partition_leader_epoch < epoch:
            raise RecordError(
                ErrorCode.CORRUPT_MESSAGE,
                f"batch at {offset} has last offset {header.last_offset} and leader epoch "
                f"{header.partition_leader_epoch} after epoch {epoch}",
            )

    # Both

    def _stage(
        self, batch: memoryview, header: BatchHeader, first_offset: int, timestamp: int
    ) -> None:
        last_offset = first_offset + header.last_offset_delta
        if self._staging.must_roll(header.size, last_offset, timestamp):
            snapshot = encode_snapshot(self._producers.entries())
            self._staging.begin_segment(Roll(first_offset, snapshot))
        aborted = None
        if header.is_control:
            header = header._replace(base_offset=first_offset)
            aborted = replay_control(self._producers, batch, header)
        else:
            self._producers.append_data(header, first_offset, timestamp)
        self._staging.add(StagedBatch(batch, first_offset, last_offset, timestamp), aborted)
        self.end_offset = last_offset + 1

    def _assign_epoch(self, epoch: int, start_offset: int) -> None:
        if epoch < 0 or epoch == self._epochs.latest:
            return
        if self._epochs_before is None:
            self._epochs_before = self._epochs.entries
        self._epochs.assign(epoch, start_offset)
