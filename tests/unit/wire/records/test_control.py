"""Control batches, and those that say nothing readable."""

from __future__ import annotations

import pytest

from logquake.wire.errors import RecordError
from logquake.wire.records import (
    BatchFlag,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    iterate_records,
    read_end_marker,
    read_header,
)


def control_batch(key: bytes | None, value: bytes | None) -> memoryview:
    return memoryview(encode_batch([Record(0, 1, key, value)], flags=BatchFlag.CONTROL))


@pytest.mark.parametrize(("kind", "code"), [(ControlType.ABORT, 0), (ControlType.COMMIT, 1)])
def test_a_marker_is_written_as_kafka_writes_it(kind: ControlType, code: int) -> None:
    batch = memoryview(
        encode_end_marker(
            kind, coordinator_epoch=258, producer_id=7, producer_epoch=1, timestamp_ms=5
        )
    )
    header = read_header(batch)
    (record,) = iterate_records(batch, 0, header, 1000)
    assert record.key == bytes([0, 0, 0, code])
    assert record.value == b"\x00\x00\x00\x00\x01\x02"
    assert header.is_control
    assert header.is_transactional
    assert read_end_marker(batch, 0, header) == (kind, 258)


def test_a_marker_of_a_later_version_is_read_as_far_as_it_is_known() -> None:
    batch = control_batch(b"\x00\x01\x00\x01\xff", b"\x00\x01\x00\x00\x00\x03\xff\xff")
    assert read_end_marker(batch, 0, read_header(batch)) == (ControlType.COMMIT, 3)


@pytest.mark.parametrize("control_type", [2, 3, 4, 5, 6, 7, 0xFFFF])
def test_another_control_type_ends_no_transaction(control_type: int) -> None:
    """Leader changes, snapshots and voters are KRaft's; what comes later is not known."""
    key = b"\x00\x00" + control_type.to_bytes(2, "big")
    batch = control_batch(key, b"\x00\x00\x00\x00\x00\x01")
    assert read_end_marker(batch, 0, read_header(batch)) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b""),
        (b"\x00", b""),
        (b"\x00\x00\x00\x01", None),
        (b"\x00\x00\x00\x01", b"\x00"),
        (b"\xff\xff\x00\x01", bytes(6)),
        (b"\x00\x00\x00\x01", b"\xff\xff" + bytes(4)),
    ],
)
def test_a_control_record_too_short_or_of_a_negative_version_is_corrupt(
    key: bytes | None, value: bytes | None
) -> None:
    batch = control_batch(key, value)
    with pytest.raises(RecordError):
        read_end_marker(batch, 0, read_header(batch))
