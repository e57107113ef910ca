"""Replicas' files, written down batch by batch."""

from __future__ import annotations

from pathlib import Path

from logquake.chaos.history.numbers import to_value
from logquake.wire.compression import Codec
from logquake.wire.records import BatchFlag, ControlType, Record, encode_batch, encode_end_marker


def batch(first: int, *numbers: int, producer: int = -1, codec: Codec = Codec.NONE) -> bytes:
    records = [Record(first + n, 1000, b"k", to_value(each)) for n, each in enumerate(numbers)]
    return bytes(
        encode_batch(
            records,
            base_offset=first,
            leader_epoch=0,
            codec=codec,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=0 if producer >= 0 else -1,
            flags=BatchFlag.TRANSACTIONAL if producer >= 0 else BatchFlag(0),
        )
    )


def end(first: int, kind: ControlType, producer: int) -> bytes:
    return bytes(
        encode_end_marker(
            kind,
            coordinator_epoch=0,
            producer_id=producer,
            producer_epoch=0,
            timestamp_ms=1000,
            base_offset=first,
            leader_epoch=0,
        )
    )


def replica(folder: Path, *segments: bytes, epochs: str = "0\n1\n0 0\n") -> Path:
    folder.mkdir(parents=True)
    for segment in segments:
        first = int.from_bytes(segment[:8], "big")
        (folder / f"{first:020d}.log").write_bytes(segment)
    (folder / "leader-epoch-checkpoint").write_text(epochs)
    return folder
