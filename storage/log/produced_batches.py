"""What a leader makes of a producer's bytes: one batch of magic 2, checked, in the topic's codec.

Sources: UnifiedLog.append, analyzeAndValidateRecords, LogValidator. A batch that needs nothing is
passed on as the view that it came in; only a message set of an old producer, a batch with offsets
out of order, or another compression.type make new bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from logquake.storage.log_config import LogConfig, TimestampType
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchHeader,
    MisplacedOffsetsError,
    ProduceLimits,
    convert_produced,
    iterate_batches,
    read_header,
    recompress,
    renumber,
    validate_produced,
)


class ProducedBatch(NamedTuple):
    """A batch fit to be appended; max_timestamp is the largest of its records'."""

    records: memoryview
    header: BatchHeader
    max_timestamp: int


class ProducedBatches:
    def __init__(self, partition: str, config: LogConfig) -> None:
        """partition is what refusals name: topic-partition."""
        self._partition = partition
        self.configure(config)

    def configure(self, config: LogConfig) -> None:
        self._config = config
        self._limits = ProduceLimits(
            max_batch_bytes=config.max_message_bytes,
            compacted=config.compacted,
            compression=config.compression,
            log_append_time=config.message_timestamp_type is TimestampType.LOG_APPEND_TIME,
            timestamp_before_max_ms=config.timestamp_before_max_ms,
            timestamp_after_max_ms=config.timestamp_after_max_ms,
            partition=self._partition,
        )

    def accept(
        self, records: memoryview, header: BatchHeader | None, now_ms: int
    ) -> ProducedBatch | None:
        """The batch in records; None where they hold nothing complete, which Kafka lets pass.

        header: of the only batch in records, where it was read already. Raises RecordError.
        """
        if header is None:
            header = _first_header(records)
            if header is None:
                return None
            if header.is_legacy:
                return self._converted(records, now_ms)
        try:
            latest = validate_produced(records, 0, header, self._limits, now_ms)
        except MisplacedOffsetsError:
            return self._renumbered(records, header, now_ms)
        return ProducedBatch(records, header, latest)

    def in_topic_codec(self, batch: ProducedBatch) -> ProducedBatch:
        """The batch as compression.type wants it. Raises RecordError."""
        codec = self._config.compression
        if codec is None or codec is batch.header.codec:
            return batch
        again = recompress(
            batch.records,
            0,
            batch.header,
            codec,
            self._limits.max_decompressed_bytes,
            self._config.compression_level(codec),
        )
        return self._rewritten(again)._replace(max_timestamp=batch.max_timestamp)

    def _converted(self, records: memoryview, now_ms: int) -> ProducedBatch | None:
        batch = convert_produced(records, self._limits, now_ms, self._level)
        return None if batch is None else self._rewritten(batch)

    def _renumbered(self, records: memoryview, header: BatchHeader, now_ms: int) -> ProducedBatch:
        limit_bytes = self._limits.max_decompressed_bytes
        codec = self._config.compression or Codec.NONE
        again = self._rewritten(
            renumber(records, 0, header, codec, limit_bytes, self._level(codec))
        )
        latest = validate_produced(again.records, 0, again.header, self._limits, now_ms)
        return again._replace(max_timestamp=latest)

    def _rewritten(self, batch: bytearray) -> ProducedBatch:
        """The size counts again: what was rewritten may have grown."""
        view = memoryview(batch)
        header = read_header(view)
        if header.size > self._limits.max_batch_bytes:
            raise RecordError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"rewritten, the record batch has {header.size} bytes, the limit is "
                f"{self._limits.max_batch_bytes}",
            )
        return ProducedBatch(view, header, header.max_timestamp)

    def _level(self, codec: Codec) -> int | None:
        """Levels are those of compression.type; producers' own codecs are kept at the default."""
        return None if self._config.compression is None else self._config.compression_level(codec)


def _first_header(records: memoryview) -> BatchHeader | None:
    """Only old Produce requests come without a header; of magic 2 they too hold one batch."""
    batches = iterate_batches(records)
    _, header = next(batches, (0, None))
    if header is not None and not header.is_legacy and next(batches, None) is not None:
        raise RecordError(ErrorCode.INVALID_RECORD, "more than one record batch")
    return header
