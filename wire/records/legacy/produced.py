"""A message set from an old producer (Produce 0 to 2): checked, and made a batch of magic 2.

Logs keep magic 2 alone since inter.broker.protocol.version 3.0, so everything is converted:
LogValidator's convertAndAssignOffsetsNonCompressed and validateMessagesAndAssignOffsetsCompressed.
Otherwise than Kafka: a time before 1970, other than -1, is INVALID_TIMESTAMP where Kafka answers
UNKNOWN_SERVER_ERROR, and a set is refused as soon as its batch exceeds the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.records.building import BatchPayload, finish_batch
from logquake.wire.records.faults import Checked, RecordFault, fault_of, refuse_faulty
from logquake.wire.records.header import BatchHeader, check_crc, iterate_batches
from logquake.wire.records.legacy.entry import LOG_APPEND_TIME_BIT, Message, read_message
from logquake.wire.records.legacy.nesting import iterate_nested
from logquake.wire.records.limits import ProduceLimits
from logquake.wire.records.record import Record
from logquake.wire.records.refusals import before_1970, invalid
from logquake.wire.records.validation import too_large
from logquake.wire.sentinels import NO_TIMESTAMP

_Entry = tuple[int, BatchHeader]
LevelOf = Callable[[Codec], int | None]


def convert_produced(
    view: memoryview, limits: ProduceLimits, now_ms: int, level_of: LevelOf
) -> bytearray | None:
    """The batch of magic 2, offsets from 0 on; None if there is no complete entry.

    `level_of` gives the compression level of the codec that the batch takes: the set's own, or
    what compression.type says. Raises RecordError as validate_produced does; several compressed
    entries, or entries of different magic, are INVALID_RECORD.
    """
    entries = list(iterate_batches(view))
    if not entries:
        return None
    for position, header in entries:
        if header.size > limits.max_batch_bytes:
            raise too_large(header.size, limits)
        check_crc(view, position, header)
    source = _source_codec(entries)
    codec = source if limits.compression is None else limits.compression
    payload = BatchPayload()
    most = limits.max_batch_bytes if codec is Codec.NONE else limits.max_decompressed_bytes
    for position, header in entries:
        _check_magic(header, entries[0][1])
        _convert_entry(view, position, header, payload, limits, now_ms)
        if payload.size > most:
            raise too_large(payload.size, limits)
    return finish_batch(payload, codec=codec, level=level_of(codec))


def _source_codec(entries: list[_Entry]) -> Codec:
    source = Codec.NONE
    for _, header in entries:
        if header.is_compressed:
            source = header.codec
    if source is not Codec.NONE and len(entries) > 1:
        raise invalid("a compressed message with other messages beside it")
    return source


def _check_magic(header: BatchHeader, first: BatchHeader) -> None:
    if header.magic != first.magic:
        raise invalid(f"magic {header.magic} after magic {first.magic} in one message set")


def _convert_entry(
    view: memoryview,
    position: int,
    header: BatchHeader,
    payload: BatchPayload,
    limits: ProduceLimits,
    now_ms: int,
) -> None:
    """Add the entry's records; the first fault ends that, and all faults are named together."""
    faults: list[RecordFault] = []
    for index, message in enumerate(_messages(view, position, header, limits)):
        fault = _fault(index, message, header, limits, now_ms)
        if fault is not None:
            faults.append(fault)
        elif not faults:
            _add(payload, message)
            _bound(payload, limits)
    refuse_faulty(faults, limits)


def _messages(
    view: memoryview, position: int, header: BatchHeader, limits: ProduceLimits
) -> Iterator[Message]:
    if header.is_compressed:
        return iterate_nested(view, position, header, limits.max_decompressed_bytes, checked=True)
    return iter((read_message(view, position, header.batch_length),))


def _add(payload: BatchPayload, message: Message) -> None:
    if message.timestamp_ms < NO_TIMESTAMP:
        raise before_1970(message.timestamp_ms)
    offset = payload.count
    payload.add(Record(offset, message.timestamp_ms, message.key, message.value))


def _bound(payload: BatchPayload, limits: ProduceLimits) -> None:
    if payload.size > limits.max_decompressed_bytes:
        raise too_large(payload.size, limits)


def _fault(
    index: int, message: Message, header: BatchHeader, limits: ProduceLimits, now_ms: int
) -> RecordFault | None:
    if message.magic != header.magic:
        return RecordFault(
            index,
            ErrorCode.INVALID_RECORD,
            f"Record {_text(message)}'s magic does not match outer magic {header.magic} in topic "
            f"partition {limits.partition}",
        )
    checked = Checked(
        index,
        message.offset,
        message.timestamp_ms,
        message.key is not None,
        header.is_log_append_time,
        "",
    )
    fault = fault_of(checked, limits, now_ms)
    if fault is None:
        return None
    return fault_of(checked._replace(text=_text(message)), limits, now_ms)


def _text(message: Message) -> str:
    """As LegacyRecord.toString prints it."""
    codec = Codec(message.attributes & 0x07).name.lower() if not message.is_compressed else "?"
    parts = [
        f"magic={message.magic}",
        f"attributes={message.attributes}",
        f"compression={codec}",
        f"crc={message.crc}",
    ]
    if message.magic:
        kind = "LogAppendTime" if message.attributes & LOG_APPEND_TIME_BIT else "CreateTime"
        parts.append(f"{kind}={message.timestamp_ms}")
    parts.append(f"key={len(message.key or b'')} bytes")
    parts.append(f"value={len(message.value or b'')} bytes")
    return f"LegacyRecordBatch(offset={message.offset}, Record({', '.join(parts)}))"
