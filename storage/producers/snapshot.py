"""The .snapshot files: producer state as of the offset in their name, in Kafka's format.

Version 1: int16 version, uint32 CRC-32C of what follows, int32 count, then for each producer the
fields of _ENTRY. Of a producer's batches only the latest is kept, as in Kafka.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from logquake.storage.producers.entry import BatchMetadata, ProducerEntry
from logquake.wire.crc import crc32c
from logquake.wire.sentinels import NO_SEQUENCE, NO_TIMESTAMP, UNKNOWN_OFFSET

_VERSION = 1
_PREFIX = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
# Producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch,
# first offset of the current transaction.
_ENTRY = struct.Struct(">qhiqiqiq")
_NO_BATCH = BatchMetadata(NO_SEQUENCE, UNKNOWN_OFFSET, 0, NO_TIMESTAMP)


class DamagedSnapshotError(Exception):
    """The file is torn or of another version; an older one, or the log itself, must do."""


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    packed = [_pack(entry) for entry in entries]
    content = _COUNT.pack(len(packed)) + b"".join(packed)
    return _PREFIX.pack(_VERSION, crc32c(content)) + content


def decode_snapshot(snapshot: bytes) -> list[ProducerEntry]:
    """Raises DamagedSnapshotError."""
    if len(snapshot) < _PREFIX.size + _COUNT.size:
        raise DamagedSnapshotError(f"{len(snapshot)} bytes")
    version, crc = _PREFIX.unpack_from(snapshot)
    content = snapshot[_PREFIX.size :]
    if version != _VERSION or crc32c(content) != crc:
        raise DamagedSnapshotError(f"version {version}, stored CRC {crc:#010x}")
    (count,) = _COUNT.unpack_from(content)
    if len(content) != _COUNT.size + count * _ENTRY.size:
        raise DamagedSnapshotError(f"{count} entries in {len(content)} bytes")
    return [_unpack(*fields) for fields in _ENTRY.iter_unpack(content[_COUNT.size :])]


def _pack(entry: ProducerEntry) -> bytes:
    last = entry.batches[-1] if entry.batches else _NO_BATCH
    return _ENTRY.pack(
        entry.producer_id,
        entry.epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        entry.current_txn_first_offset,
    )


def _unpack(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    current_txn_first_offset: int,
) -> ProducerEntry:
    batch = BatchMetadata(last_sequence, last_offset, offset_delta, timestamp)
    return ProducerEntry(
        producer_id,
        epoch,
        coordinator_epoch,
        timestamp,
        current_txn_first_offset,
        (batch,) if last_offset != UNKNOWN_OFFSET else (),
    )
