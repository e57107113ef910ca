from __future__ import annotations

import pytest

from logquake.storage.producers.entry import BatchMetadata, ProducerEntry
from logquake.storage.producers.snapshot import (
    DamagedSnapshotError,
    decode_snapshot,
    encode_snapshot,
)

# Written by Kafka 3.9.1 for a transactional producer's sixteen records.
KAFKA = bytes.fromhex(
    "0001409ef9440000000100000000000003e800000000000f0000000000000206"
    "00000000000001a1fd76669f00000000ffffffffffffffff"
)
ENTRY = ProducerEntry(
    producer_id=1000,
    epoch=0,
    coordinator_epoch=0,
    last_timestamp=0x1A1FD76669F,
    batches=(BatchMetadata(15, 518, 0, 0x1A1FD76669F),),
)


def test_a_snapshot_of_kafka_is_read_and_written_alike() -> None:
    assert decode_snapshot(KAFKA) == [ENTRY]
    assert encode_snapshot([ENTRY]) == KAFKA


def test_only_the_latest_batch_and_producers_without_one_are_kept() -> None:
    batches = (BatchMetadata(4, 40, 4, 9), BatchMetadata(5, 41, 0, 10))
    several = ProducerEntry(1, 2, last_timestamp=10, batches=batches)
    without = ProducerEntry(2, 3, coordinator_epoch=4, last_timestamp=5, current_txn_first_offset=6)
    loaded = decode_snapshot(encode_snapshot([several, without]))
    assert loaded[0].batches == batches[-1:]
    assert loaded[1] == without


@pytest.mark.parametrize(
    "damaged",
    [b"", KAFKA[:-1], KAFKA[:9], KAFKA + b"\0", b"\0\2" + KAFKA[2:], KAFKA[:-1] + b"\0"],
)
def test_a_damaged_snapshot_is_refused(damaged: bytes) -> None:
    with pytest.raises(DamagedSnapshotError):
        decode_snapshot(damaged)
