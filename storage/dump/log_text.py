"""A .log file as text: a line a batch, with deep iteration a line a record."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from logquake.storage.disk.seam import File
from logquake.storage.dump.damages import Damages
from logquake.storage.dump.decoders import Decoded, UndecodableRecordError
from logquake.storage.dump.entries import FoundBatch, UnreadableEntryError, read_batches
from logquake.storage.dump.options import NO_LIMIT, DumpOptions
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchHeader, Record, iterate_records
from logquake.wire.records.header import MAX_SEQUENCE
from logquake.wire.records.legacy.entry import Message
from logquake.wire.records.legacy.nesting import iterate_messages, iterate_nested
from logquake.wire.sentinels import NO_SEQUENCE, UNKNOWN_OFFSET

_CONTROL_KEY = struct.Struct(">hh")  # version, type
_CONTROL_VALUE = struct.Struct(">hi")  # version, coordinator epoch
_CONTROL_TYPES = {
    0: "ABORT",
    1: "COMMIT",
    2: "LEADER_CHANGE",
    3: "SNAPSHOT_HEADER",
    4: "SNAPSHOT_FOOTER",
    5: "KRAFT_VERSION",
    6: "KRAFT_VOTERS",
}
_END_MARKERS = ("ABORT", "COMMIT")


class LogText:
    """One file; ``path`` is absolute, for what is told of damages."""

    def __init__(self, path: str, file: File, options: DumpOptions, damages: Damages) -> None:
        self._path = path
        self._file = file
        self._options = options
        self._damages = damages
        self._last_offset = UNKNOWN_OFFSET

    def lines(self) -> Iterator[str]:
        size = self._file.size()
        end = min(size, self._options.max_bytes)
        valid = 0
        try:
            for batch in read_batches(self._file, 0, end):
                yield from self._batch(batch)
                valid = batch.position + batch.header.size
        except UnreadableEntryError as error:
            self._damages.add(f"{self._path}: {error}")
        if valid < size and self._options.max_bytes == NO_LIMIT:
            self._damages.found = True
            name = self._path.rpartition("/")[2]
            yield f"Found {size - valid} invalid bytes at the end of {name}"

    def _batch(self, batch: FoundBatch) -> Iterator[str]:
        is_valid = batch.is_valid
        self._damages.found |= not is_valid
        try:
            yield f"{_own_fields(batch.header)} {_shared_fields(batch, is_valid)}"
            if self._options.deep_iteration or self._options.print_data_log:
                yield from self._records(batch, is_valid)
        except RecordError as error:
            self._damages.add(f"{self._path}: batch at byte {batch.position}: {error.detail}")

    def _records(self, batch: FoundBatch, is_valid: bool) -> Iterator[str]:
        limit = self._options.max_decompressed_bytes
        if batch.header.is_legacy:
            for message in _legacy_messages(batch, limit):
                record = Record(message.offset, message.timestamp_ms, message.key, message.value)
                yield self._record_line(batch.header, record, _checksum(message, is_valid))
        else:
            for record in iterate_records(batch.content, 0, batch.header, limit):
                yield self._record_line(batch.header, record, _details(batch.header, record))

    def _note_offset(self, offset: int) -> None:
        if self._last_offset not in (UNKNOWN_OFFSET, offset - 1):
            self._damages.gap(self._path, self._last_offset, offset)
        self._last_offset = offset

    def _record_line(self, header: BatchHeader, record: Record, details: str) -> str:
        self._note_offset(record.offset)
        line = ""
        if not self._options.skip_record_metadata:
            line = (
                f"| offset: {record.offset} {_timestamp_type(header)}: {record.timestamp_ms} "
                f"keySize: {_size(record.key)} valueSize: {_size(record.value)} {details}"
            )
        if not self._options.print_data_log or header.is_control:
            return line
        key, payload = self._decode(record)
        if key is not None:
            line += f"{' ' if line else '| '}key: {key}"
        # The mark of a record stands before its metadata or its key, else nowhere, as in Kafka.
        return line if payload is None else f"{line} payload: {payload}"

    def _decode(self, record: Record) -> Decoded:
        try:
            return self._options.decoder(record)
        except UndecodableRecordError as error:
            self._damages.add(f"{self._path}: offset {record.offset}: {error}")
            return Decoded(None, None)


def _own_fields(header: BatchHeader) -> str:
    """What is told of a batch by its format."""
    if header.is_legacy:
        return f"offset: {header.last_offset}"
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} "
        f"count: {header.record_count} baseSequence: {header.base_sequence} "
        f"lastSequence: {header.last_sequence} producerId: {header.producer_id} "
        f"producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.partition_leader_epoch} "
        f"isTransactional: {_java(header.is_transactional)} isControl: {_java(header.is_control)} "
        f"deleteHorizonMs: {_delete_horizon(header)}"
    )


def _shared_fields(batch: FoundBatch, is_valid: bool) -> str:
    """What is told of every batch. Raises RecordError for a codec that nobody has defined."""
    header = batch.header
    return (
        f"position: {batch.position} {_timestamp_type(header)}: {header.max_timestamp} "
        f"size: {header.size} magic: {header.magic} compresscodec: {header.codec.name.lower()} "
        f"crc: {header.crc} isvalid: {_java(is_valid)}"
    )


def _details(header: BatchHeader, record: Record) -> str:
    keys = ",".join(key for key, _ in record.headers)
    line = f"sequence: {_sequence(header, record.offset)} headerKeys: [{keys}]"
    return f"{line} {_control(record)}" if header.is_control else line


def _checksum(message: Message, is_valid: bool) -> str:
    # The brace is Kafka's.
    return f"isValid: {_java(is_valid)} crc: {message.crc}}}"


def _legacy_messages(batch: FoundBatch, limit_bytes: int) -> Iterator[Message]:
    """Raises RecordError, also for a compressed message whose checksum is wrong."""
    if not batch.header.is_compressed:
        return iterate_messages(batch.content, 0, batch.header, limit_bytes)
    return iterate_nested(batch.content, 0, batch.header, limit_bytes, checked=True)


def _control(record: Record) -> str:
    """Raises RecordError for what is no control record."""
    key, value = record.key or b"", record.value or b""
    if len(key) < _CONTROL_KEY.size:
        raise _unreadable(record, f"a control key of {len(key)} bytes")
    _, type_id = _CONTROL_KEY.unpack_from(key)
    name = _CONTROL_TYPES.get(type_id, "UNKNOWN")
    if name not in _END_MARKERS:
        return f"controlType: {name}({type_id})"
    if len(value) < _CONTROL_VALUE.size:
        raise _unreadable(record, f"the end of a transaction in {len(value)} bytes")
    _, coordinator_epoch = _CONTROL_VALUE.unpack_from(value)
    return f"endTxnMarker: {name} coordinatorEpoch: {coordinator_epoch}"


def _unreadable(record: Record, what: str) -> RecordError:
    return RecordError(ErrorCode.CORRUPT_MESSAGE, f"offset {record.offset}: {what}")


def _sequence(header: BatchHeader, offset: int) -> int:
    if header.base_sequence < 0:
        return NO_SEQUENCE
    return (header.base_sequence + offset - header.base_offset) & MAX_SEQUENCE


def _delete_horizon(header: BatchHeader) -> str:
    if header.has_delete_horizon:
        return f"OptionalLong[{header.base_timestamp}]"
    return "OptionalLong.empty"


def _timestamp_type(header: BatchHeader) -> str:
    if header.magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if header.is_log_append_time else "CreateTime"


def _size(content: bytes | None) -> int:
    return -1 if content is None else len(content)


def _java(value: bool) -> str:
    return "true" if value else "false"
