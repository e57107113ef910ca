"""Control batches that say nothing readable."""

from __future__ import annotations

import pytest

from logquake.wire.errors import RecordError
from logquake.wire.records import BatchFlag, Record, encode_batch, read_end_marker, read_header


def control_batch(key: bytes | None, value: bytes | None) -> memoryview:
    return memoryview(encode_batch([Record(0, 1, key, value)], flags=BatchFlag.CONTROL))


def test_another_control_type_ends_no_transaction() -> None:
    batch = control_batch(b"\x00\x00\x00\x02", b"\x00\x00\x00\x00\x00\x01")
    assert read_end_marker(batch, 0, read_header(batch)) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [(None, b""), (b"\x00", b""), (b"\x00\x00\x00\x01", None), (b"\x00\x00\x00\x01", b"\x00")],
)
def test_a_control_record_too_short_to_read_is_corrupt(
    key: bytes | None, value: bytes | None
) -> None:
    batch = control_batch(key, value)
    with pytest.raises(RecordError):
        read_end_marker(batch, 0, read_header(batch))
