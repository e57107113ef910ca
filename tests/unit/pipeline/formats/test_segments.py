"""Replicas' files as rows, also of batches that are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from logquake.pipeline.formats.segments import SegmentFile, find_segments, read_segment
from logquake.pipeline.options.values import OptionError
from logquake.wire.records import BatchFlag, ControlType, Record, encode_batch, encode_end_marker
from logquake.wire.topic_partition import TopicPartition

PLAIN = encode_batch([Record(0, 1_000, b"k", b"v"), Record(1, 1_001, None, b"w")])
TRANSACTIONAL = encode_batch(
    [Record(2, 1_002, None, b"x"), Record(3, 1_003, None, None)],
    base_offset=2,
    leader_epoch=4,
    producer_id=7,
    producer_epoch=1,
    base_sequence=0x7FFFFFFF,
    flags=BatchFlag.TRANSACTIONAL,
)
MARKER = encode_end_marker(
    ControlType.ABORT,
    coordinator_epoch=0,
    producer_id=7,
    producer_epoch=1,
    timestamp_ms=1_004,
    base_offset=4,
)


def segment(
    folder: Path, *batches: bytes | bytearray, broker: int = 1, base_offset: int = 0
) -> Path:
    log_dir = folder / f"broker-{broker}" / "data"
    partition = log_dir / "orders-0"
    partition.mkdir(parents=True, exist_ok=True)
    (log_dir / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
    path = partition / f"{base_offset:020}.log"
    path.write_bytes(b"".join(batches))
    return path


def rows(folder: Path, *wanted: str, **options: str) -> list[tuple[Any, ...]]:
    found = []
    for each in find_segments({"path": str(folder), **options}):
        for batch in read_segment(each):
            found += [tuple(row[name] for name in wanted) for row in batch.to_pylist()]
    return found


def test_each_record_and_each_marker_is_a_row(tmp_path: Path) -> None:
    segment(tmp_path, PLAIN, TRANSACTIONAL, MARKER)
    assert rows(tmp_path, "offset", "key", "value", "epoch", "control", "crcOk") == [
        (0, b"k", b"v", -1, None, True),
        (1, None, b"w", -1, None, True),
        (2, None, b"x", 4, None, True),
        (3, None, None, 4, None, True),
        (4, None, None, -1, "abort", True),
    ]
    assert rows(tmp_path, "producerId", "producerEpoch", "sequence", "isTransactional")[1:4] == [
        (-1, -1, -1, False),
        (7, 1, 0x7FFFFFFF, True),
        (7, 1, 0, True),
    ]


def test_a_damaged_batch_is_one_row_and_the_next_is_read(tmp_path: Path) -> None:
    damaged = bytearray(PLAIN)
    damaged[-1] ^= 1
    segment(tmp_path, damaged, TRANSACTIONAL)
    assert rows(tmp_path, "offset", "position", "crcOk") == [
        (0, 0, False),
        (2, len(PLAIN), True),
        (3, len(PLAIN), True),
    ]


def test_a_time_that_spark_has_not_is_null_and_ends_nothing(tmp_path: Path) -> None:
    nanoseconds = encode_batch([Record(0, 1_764_000_000_000_000_000, b"k", b"v")])
    damaged = bytearray(TRANSACTIONAL)
    damaged[35] ^= 0x40  # of its largest time
    segment(tmp_path, nanoseconds, damaged, MARKER)
    found = rows(tmp_path, "offset", "timestamp", "crcOk")
    assert found[:2] == [(0, None, True), (2, None, False)]
    assert found[2][1] is not None


@pytest.mark.parametrize("tail", [TRANSACTIONAL[:-1], TRANSACTIONAL[:5], b"\x00" * 100])
def test_what_a_file_ends_in_is_no_row(tmp_path: Path, tail: bytes | bytearray) -> None:
    segment(tmp_path, PLAIN, tail)
    assert rows(tmp_path, "offset") == [(0,), (1,)]


def with_length(batch: bytes | bytearray, length: int) -> bytes:
    return bytes(batch[:8]) + length.to_bytes(4, "big") + batch[12:]


NEXT = len(PLAIN)  # where the batch behind it begins


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param([with_length(TRANSACTIONAL, 1 << 20), MARKER], id="a length beyond the end"),
        pytest.param([with_length(TRANSACTIONAL, 7), MARKER], id="a length too short"),
        pytest.param([TRANSACTIONAL[:16] + b"\x09" + TRANSACTIONAL[17:]], id="a magic"),
        pytest.param([b"\x00" * 100, MARKER], id="zeros before a batch"),
    ],
)
def test_damage_that_hides_where_a_batch_ends_is_the_last_row(
    tmp_path: Path, rest: list[bytes | bytearray]
) -> None:
    segment(tmp_path, PLAIN, *rest)
    found = rows(tmp_path, "offset", "position", "value", "crcOk")
    assert found == [(0, 0, b"v", True), (1, 0, b"w", True), (2, NEXT, None, False)]


def test_a_file_that_another_follows_has_to_end_with_a_whole_batch(tmp_path: Path) -> None:
    segment(tmp_path, PLAIN, TRANSACTIONAL[:-1])
    segment(tmp_path, MARKER, base_offset=4)
    assert rows(tmp_path, "segment", "offset", "crcOk") == [
        (0, 0, True),
        (0, 1, True),
        (0, 2, False),
        (4, 4, True),
    ]


def test_all_replicas_below_a_path_are_found_and_topics_chosen(tmp_path: Path) -> None:
    segment(tmp_path, PLAIN, broker=2)
    segment(tmp_path, PLAIN, broker=1)
    second = segment(tmp_path, TRANSACTIONAL, broker=1, base_offset=2)
    (second.parent / "junk.log").touch()
    assert rows(tmp_path, "broker", "segment", "offset") == [
        (1, 0, 0),
        (1, 0, 1),
        (1, 2, 2),
        (1, 2, 3),
        (2, 0, 0),
        (2, 0, 1),
    ]
    assert rows(tmp_path / "broker-2", "broker") == rows(tmp_path / "broker-2" / "data", "broker")
    assert rows(tmp_path, "offset", topics="others") == []


def test_a_file_that_was_deleted_meanwhile_has_no_rows(tmp_path: Path) -> None:
    gone = SegmentFile(1, TopicPartition("orders", 0), str(tmp_path / f"{0:020}.log"))
    assert list(read_segment(gone)) == []


@pytest.mark.parametrize("options", [{}, {"path": "/dev/null"}, {"path": ".", "topic": "orders"}])
def test_what_cannot_be_read_is_refused_in_words(options: dict[str, str]) -> None:
    with pytest.raises(OptionError):
        find_segments(options)
