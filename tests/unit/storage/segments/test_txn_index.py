from __future__ import annotations

import pytest

from logquake.storage.segments.index_file import DamagedIndexError
from logquake.storage.segments.txn_index import (
    AbortedTransaction,
    TransactionIndex,
    decode_aborted,
    encode_aborted,
)
from tests.doubles.memory_disk import MemoryDisk

PATH = "/t-0/00000000000000000100.txnindex"
# As a Kafka 3.9 broker wrote it.
OBSERVED = bytes.fromhex("0000 00000000000003e8 00000000000001fa 00000000000001ff 0000000000000200")
ENTRIES = [
    AbortedTransaction(1, 50, 110, 105),
    AbortedTransaction(2, 105, 120, 121),
    AbortedTransaction(1, 130, 140, 135),
    AbortedTransaction(3, 135, 150, 151),
]


@pytest.fixture
def disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_dirs("/t-0")
    return disk


@pytest.fixture
def index(disk: MemoryDisk) -> TransactionIndex:
    index = TransactionIndex(disk, PATH, 100)
    index.append(ENTRIES[:1])
    index.append(ENTRIES[1:])
    return index


def test_the_format_is_kafkas() -> None:
    assert decode_aborted(OBSERVED) == [AbortedTransaction(1000, 506, 511, 512)]
    assert encode_aborted(decode_aborted(OBSERVED)) == OBSERVED


def test_the_file_is_made_for_the_first_entry(disk: MemoryDisk) -> None:
    index = TransactionIndex(disk, PATH, 100)
    index.append([])
    assert (index.collect(0, 1_000), index.files()) == (([], False), [])
    index.truncate_to(0)
    index.reset()
    assert disk.list("/t-0") == []


def test_entries_outlive_a_restart(disk: MemoryDisk, index: TransactionIndex) -> None:
    assert TransactionIndex(disk, PATH, 100).entries() == index.entries() == ENTRIES
    assert disk.read(PATH) == encode_aborted(ENTRIES)


@pytest.mark.parametrize(
    ("fetch_offset", "upper_bound", "found", "is_complete"),
    [
        (0, 50, [], True),
        (0, 51, [0], True),
        (110, 111, [0, 1], True),
        (111, 120, [1], True),
        (121, 130, [], True),
        (121, 131, [2], True),
        (121, 136, [2, 3], True),
        (141, 151, [3], True),
        (141, 152, [3], False),
        (151, 200, [], False),
    ],
)
def test_those_that_overlap_a_fetch_are_found(
    index: TransactionIndex,
    fetch_offset: int,
    upper_bound: int,
    found: list[int],
    is_complete: bool,
) -> None:
    expected = [ENTRIES[number] for number in found]
    assert index.collect(fetch_offset, upper_bound) == (expected, is_complete)


def test_truncation_drops_transactions_by_their_markers(
    disk: MemoryDisk, index: TransactionIndex
) -> None:
    index.truncate_to(140)
    assert index.entries() == ENTRIES[:2]
    assert disk.read(PATH) == encode_aborted(ENTRIES[:2])
    index.append(ENTRIES[3:])
    assert TransactionIndex(disk, PATH, 100).entries() == [*ENTRIES[:2], ENTRIES[3]]


def test_what_a_failed_write_left_is_cut_off(disk: MemoryDisk, index: TransactionIndex) -> None:
    disk.open(PATH).pwritev([b"torn"], len(ENTRIES) * 34)
    index.truncate_to(1_000)
    assert disk.read(PATH) == encode_aborted(ENTRIES)


def test_a_reset_index_is_empty(disk: MemoryDisk, index: TransactionIndex) -> None:
    index.reset()
    assert (index.entries(), disk.read(PATH)) == ([], b"")


@pytest.mark.parametrize(
    "damage",
    [
        OBSERVED[:-1],
        b"\0\1" + OBSERVED[2:],
        OBSERVED + OBSERVED,
        encode_aborted([AbortedTransaction(1, 50, 99, 100)]),
    ],
    ids=["torn", "version", "order", "segment"],
)
def test_what_cannot_be_right_is_damage(disk: MemoryDisk, damage: bytes) -> None:
    disk.open(PATH, create=True).pwritev([damage], 0)
    with pytest.raises(DamagedIndexError):
        TransactionIndex(disk, PATH, 100).entries()


def test_markers_must_ascend(index: TransactionIndex) -> None:
    with pytest.raises(ValueError, match="150"):
        index.append(ENTRIES[3:])
