"""The .txnindex and .snapshot files as text."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from logquake.storage.dump.damages import Damages
from logquake.wire.crc import crc32c

_ABORTED = struct.Struct(">hqqqq")
_ABORTED_VERSION = 0
_SNAPSHOT_PREFIX = struct.Struct(">hIi")  # version, CRC of what follows it, number of producers
_CHECKED_FROM = 6
_SNAPSHOT_VERSION = 1
_PRODUCER = struct.Struct(">qhiqiqiq")
_MAX_SEQUENCE = 2**31 - 1


def aborted_transactions(path: str, content: bytes, damages: Damages) -> Iterator[str]:
    """A line an entry; an incomplete last one is damage."""
    rest = len(content) % _ABORTED.size
    for entry in _ABORTED.iter_unpack(content[: len(content) - rest]):
        version, producer_id, first_offset, last_offset, last_stable_offset = entry
        if version > _ABORTED_VERSION:
            damages.add(f"{path}: an aborted transaction of version {version}")
            return
        yield (
            f"version: {version} producerId: {producer_id} firstOffset: {first_offset} "
            f"lastOffset: {last_offset} lastStableOffset: {last_stable_offset}"
        )
    if rest:
        damages.add(f"{path}: {rest} bytes after the last entry")


def producers(content: bytes, damages: Damages) -> Iterator[str]:
    """A line a producer, none of a snapshot that is damaged."""
    damage = _snapshot_damage(content)
    if damage is not None:
        damages.add(damage)
        return
    for entry in _PRODUCER.iter_unpack(content[_SNAPSHOT_PREFIX.size :]):
        yield _producer_line(*entry)


def _snapshot_damage(content: bytes) -> str | None:
    """In Kafka's words where it has any."""
    if len(content) < _SNAPSHOT_PREFIX.size:
        return f"Snapshot failed schema validation: it has {len(content)} bytes"
    version, crc, count = _SNAPSHOT_PREFIX.unpack_from(content)
    if len(content) - _SNAPSHOT_PREFIX.size != count * _PRODUCER.size:
        return f"Snapshot failed schema validation: {count} producers in {len(content)} bytes"
    if version != _SNAPSHOT_VERSION:
        return f"Snapshot contained an unknown file version {version}"
    computed = crc32c(content[_CHECKED_FROM:])
    if crc != computed:
        return (
            "Snapshot is corrupt (CRC is no longer valid). "
            f"Stored crc: {crc}. Computed crc: {computed}"
        )
    return None


def _producer_line(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    current_txn_first_offset: int,
) -> str:
    begin = "empty" if current_txn_first_offset < 0 else f"[{current_txn_first_offset}]"
    optional = f"OptionalLong{'.' if begin == 'empty' else ''}{begin}"
    line = (
        f"producerId: {producer_id} producerEpoch: {epoch} coordinatorEpoch: {coordinator_epoch} "
        f"currentTxnFirstOffset: {optional} lastTimestamp: {timestamp} "
    )
    if last_offset < 0:
        return line
    first_sequence = (last_sequence - offset_delta) & _MAX_SEQUENCE
    return line + (
        f"firstSequence: {first_sequence} lastSequence: {last_sequence} "
        f"lastOffset: {last_offset} offsetDelta: {offset_delta} timestamp: {timestamp}"
    )
