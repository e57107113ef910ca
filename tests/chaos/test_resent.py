"""Who doubled a record, by the producer epochs of its copies: on tiny logs."""

from __future__ import annotations

from pathlib import Path

from logquake.chaos.resent import Copy, repeated_records, resent_records
from logquake.wire.records import Record, encode_batch, patch_base


def batch(offset: int, *values: bytes, epoch: int = 0, sequence: int) -> bytes:
    records = [Record(n, 1, b"k", value, ()) for n, value in enumerate(values)]
    made = encode_batch(records, producer_id=7, producer_epoch=epoch, base_sequence=sequence)
    patch_base(memoryview(made), 0, offset, 0)
    return bytes(made)


def log(data: Path, *batches: bytes) -> Path:
    """Of orders-0, a segment a batch."""
    folder = data / "orders-0"
    folder.mkdir()
    for number, content in enumerate(batches):
        (folder / f"{number:020d}.log").write_bytes(content)
    return data


def test_a_log_in_which_everything_is_once_repeats_nothing(tmp_path: Path) -> None:
    data = log(tmp_path, batch(0, b"a", b"b", sequence=0), batch(2, b"c", sequence=2))
    assert repeated_records(data, "orders", range(1)) == []


def test_a_copy_under_another_epoch_is_the_clients_doing(tmp_path: Path) -> None:
    data = log(
        tmp_path, batch(0, b"a", b"b", sequence=0), batch(2, b"b", b"c", epoch=1, sequence=0)
    )
    (repeated,) = repeated_records(data, "orders", range(1))
    assert repeated.copies == (Copy(1, 7, 0, 1), Copy(2, 7, 1, 0))
    assert resent_records([repeated]) == {(b"k", b"b"): 1}


def test_a_copy_under_the_same_epoch_is_not(tmp_path: Path) -> None:
    data = log(
        tmp_path, batch(0, b"a", sequence=0), batch(1, b"a", sequence=1), batch(2, b"a", sequence=2)
    )
    (repeated,) = repeated_records(data, "orders", range(1))
    assert len(repeated.copies) == 3
    assert not repeated.is_resent
    assert not resent_records([repeated])
