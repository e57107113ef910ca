"""What a log remembers of producers, over restarts, truncations and idle times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.storage.lone_log import START_MS, LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]
MakeMarker = Callable[..., bytes]
TRANSACTIONAL = 0x10
MAX_SEQUENCE = 2**31 - 1
SNAPSHOT = ".snapshot"


def test_of_a_snapshot_only_the_last_batch_is_known_as_a_duplicate(
    begin: Begin, batch: MakeBatch
) -> None:
    """ProducerStateManager.writeSnapshot keeps one batch of the five that ProducerStateEntry
    remembers: after a restart the last one repeated is a duplicate, the one before it a gap.
    """
    log = begin()
    batches = [batch(START_MS, START_MS, pid=7, sequence=at) for at in (0, 2, 4)]
    for one in batches:
        log.produce(one)
    assert log.produce(batches[1])[:2] == (2, 3)
    log.reopen()
    assert log.produce(batches[2])[:2] == (4, 5)
    assert not log.accepts(batches[1])
    assert log.accepts(batch(START_MS, pid=7, sequence=6))


def test_the_sixth_last_batch_is_a_gap(begin: Begin, batch: MakeBatch) -> None:
    """ProducerStateEntry.NUM_BATCHES_TO_RETAIN is 5."""
    log = begin()
    batches = [batch(START_MS, pid=7, sequence=at) for at in range(6)]
    for one in batches:
        log.produce(one)
    assert log.produce(batches[1])[:2] == (1, 1)
    assert not log.accepts(batches[0])


def test_after_a_crash_the_last_batch_is_known(begin: Begin, batch: MakeBatch) -> None:
    """LogLoader.recoverSegment ends with a snapshot, from which Kafka goes on: it knows the last
    batch of each producer then. Here all that were read again are known.
    """
    log = begin()
    batches = [batch(START_MS, pid=7, sequence=at) for at in range(3)]
    for one in batches:
        log.produce(one)
    log.crash()
    log.open(clean=False)
    assert log.files(SNAPSHOT) == [3]
    assert log.produce(batches[2])[:2] == (2, 2)
    assert log.accepts(batch(START_MS, pid=7, sequence=3))


def test_sequences_wrap_to_zero(begin: Begin, batch: MakeBatch) -> None:
    """ProducerAppendInfo.inSequence, DefaultRecordBatch.incrementSequence: 0 follows 2^31 - 1, in
    the midst of a batch too; the snapshot has the last one.
    """
    log = begin()
    log.produce(batch(START_MS, START_MS, pid=7, sequence=MAX_SEQUENCE))
    assert not log.accepts(batch(START_MS, pid=7, sequence=0))
    log.reopen()
    log.produce(batch(START_MS, pid=7, sequence=1))


def test_a_new_epoch_begins_with_sequence_zero(begin: Begin, batch: MakeBatch) -> None:
    """ProducerAppendInfo.checkSequence; the batches of the epoch before are no duplicates."""
    log = begin()
    log.produce(batch(START_MS, pid=7, sequence=0))
    assert not log.accepts(batch(START_MS, pid=7, sequence=1, producer_epoch=1))
    assert log.produce(batch(START_MS, pid=7, sequence=0, producer_epoch=1))[:2] == (1, 1)
    assert not log.accepts(batch(START_MS, pid=7, sequence=1))


def test_a_follower_takes_what_its_leader_took(begin: Begin, batch: MakeBatch) -> None:
    """ProducerAppendInfo checks sequences of clients only; whatever comes is remembered."""
    log = begin()
    log.replicate(batch(START_MS, pid=7, sequence=3, epoch=0))
    log.replicate(batch(START_MS, offset=1, pid=7, sequence=30, epoch=0))
    log.lead(1)
    assert log.accepts(batch(START_MS, pid=7, sequence=31), 1)


def test_truncation_goes_back_to_what_was_known(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.truncateTo: snapshots beyond go, one is taken at the new end."""
    size = len(batch(START_MS, pid=7, sequence=0))
    log = begin(segment_bytes=2 * size)
    for sequence in range(7):
        log.produce(batch(START_MS, pid=7, sequence=sequence))
    assert log.files(SNAPSHOT) == [2, 4, 6]
    log.truncate(5)
    assert log.files(SNAPSHOT) == [2, 4, 5]
    assert log.accepts(batch(START_MS, pid=7, sequence=5))


def test_a_stray_snapshot_stays_until_the_next_start(begin: Begin, batch: MakeBatch) -> None:
    """ProducerStateManager.removeStraySnapshots: that of an earlier stop, which begins no segment,
    is removed by the start that finds a later segment.
    """
    size = len(batch(START_MS, pid=7, sequence=0))
    log = begin(segment_bytes=2 * size)
    for sequence in range(5):
        log.produce(batch(START_MS, pid=7, sequence=sequence))
    log.reopen()
    for sequence in range(5, 9):
        log.produce(batch(START_MS, pid=7, sequence=sequence))
    assert log.files(SNAPSHOT) == [2, 4, 5, 6, 8]
    log.truncate(7)
    assert log.files(SNAPSHOT) == [2, 4, 5, 6, 7]
    log.reopen()
    assert log.files(SNAPSHOT) == [2, 4, 6, 7]


def test_a_damaged_snapshot_makes_way_for_an_older_one(begin: Begin, batch: MakeBatch) -> None:
    """ProducerStateManager.loadFromSnapshot: removed, and the batches after the older one read."""
    size = len(batch(START_MS, pid=7, sequence=0))
    log = begin(segment_bytes=2 * size)
    for sequence in range(5):
        log.produce(batch(START_MS, pid=7, sequence=sequence))
    log.close()
    log.write(f"{5:020d}{SNAPSHOT}", b"torn")
    log.write(f"{4:020d}{SNAPSHOT}", b"")
    log.open()
    log.compare()
    assert log.files(SNAPSHOT) == [2, 4, 5]
    assert log.accepts(batch(START_MS, pid=7, sequence=5))


def test_an_idle_producer_expires_over_a_restart(begin: Begin, batch: MakeBatch) -> None:
    """ProducerStateManager.loadFromSnapshot leaves out who was idle for producer.id.expiration.ms;
    by the times of batches, not by those of their appends.
    """
    log = begin(producer_expiration_ms=1_000)
    log.produce(batch(START_MS, pid=7, sequence=0))
    log.produce(batch(START_MS + 1, pid=8, sequence=0))
    log.now_ms = START_MS + 1_000
    log.reopen()
    assert log.accepts(batch(START_MS, pid=7, sequence=55)), "known no more, it begins anywhere"
    assert not log.accepts(batch(START_MS, pid=8, sequence=55))


def test_who_is_in_a_transaction_does_not_expire(begin: Begin, batch: MakeBatch) -> None:
    """ProducerStateManager.isProducerExpired."""
    log = begin(producer_expiration_ms=1_000)
    log.produce(batch(START_MS, pid=7, sequence=0, flags=TRANSACTIONAL))
    log.now_ms += 5_000
    log.reopen()
    log.expire()
    assert log.log.first_unstable_offset == 0
    assert not log.accepts(batch(START_MS, pid=7, sequence=55, flags=TRANSACTIONAL))


def test_an_end_marker_keeps_the_last_sequence(
    begin: Begin, batch: MakeBatch, abort: MakeMarker
) -> None:
    """ProducerStateEntry.update: the marker changes the time and the coordinator's epoch, and adds
    no batch; the snapshot tells the last data.
    """
    log = begin()
    log.produce(batch(START_MS, pid=7, sequence=0, flags=TRANSACTIONAL))
    log.produce(abort(7, timestamp=START_MS + 9), coordinator=True)
    log.reopen()
    assert log.log.first_unstable_offset is None
    assert log.accepts(batch(START_MS, pid=7, sequence=1, flags=TRANSACTIONAL))


def test_a_marker_without_a_transaction_is_not_listed(begin: Begin, abort: MakeMarker) -> None:
    """ProducerAppendInfo.appendEndTxnMarker: nothing was aborted, so .txnindex has no entry."""
    log = begin()
    log.produce(abort(7), coordinator=True)
    assert log.files(".txnindex") == []


def test_the_last_stable_offset_of_an_entry_is_that_of_other_transactions(
    begin: Begin, batch: MakeBatch, abort: MakeMarker
) -> None:
    """ProducerStateManager.lastStableOffset: the first offset of the oldest transaction that goes
    on, or that after the marker. Truncation takes entries by their markers.
    """
    log = begin()
    for pid in (7, 8):
        log.produce(batch(START_MS, pid=pid, sequence=0, flags=TRANSACTIONAL))
    for pid in (7, 8):
        log.produce(abort(pid), coordinator=True)
    assert [tuple(one) for one in log.log.aborted_transactions(0, 4)] == [
        (7, 0, 2, 1),
        (8, 1, 3, 4),
    ]
    log.truncate(3)
    assert [one.producer_id for one in log.log.aborted_transactions(0, 3)] == [7]
    assert log.log.first_unstable_offset == 1


def test_an_empty_control_batch_means_nothing(begin: Begin, batch: MakeBatch) -> None:
    """ProducerAppendInfo.append: what compaction left of a marker whose transaction is gone."""
    log = begin(compacted=True)
    log.replicate(batch(START_MS, pid=7, sequence=0, epoch=0, flags=TRANSACTIONAL))
    empty = batch(
        offset=1, pid=7, epoch=0, flags=0x30, last_offset=1, max_timestamp=START_MS, sequence=-1
    )
    log.replicate(empty)
    assert log.log.first_unstable_offset == 0


def test_after_a_crash_producers_from_before_the_log_start_are_known(
    begin: Begin, batch: MakeBatch
) -> None:
    """LogLoader.recoverSegment reads snapshots down to the checkpointed start, and retention
    checkpoints none: whose batches are deleted is remembered still, once more.
    """
    size = len(batch(START_MS, pid=7, sequence=0))
    log = begin(segment_bytes=2 * size, retention_bytes=2 * size)
    log.produce(batch(START_MS, pid=8, sequence=0, flags=TRANSACTIONAL))
    for sequence in range(4):
        log.produce(batch(START_MS, pid=7, sequence=sequence))
    log.retain()
    start = log.log.start_offset
    assert start == 2
    log.crash()
    log.open(clean=False, recovery_point=start + 1)
    assert log.log.first_unstable_offset == start
    assert not log.accepts(batch(START_MS, pid=8, sequence=9, flags=TRANSACTIONAL))


@pytest.mark.parametrize("pids", [(16, 1, 0), (2**32, 1000, 15), tuple(range(100, 1, -7))])
def test_a_snapshot_has_the_order_of_a_hash_map(
    pids: tuple[int, ...], begin: Begin, batch: MakeBatch
) -> None:
    """ProducerStateManager.writeSnapshot goes through a HashMap<Long, ...>."""
    log = begin()
    for pid in pids:
        log.produce(batch(START_MS, pid=pid, sequence=0))
    log.reopen()
    assert log.files(SNAPSHOT) == [len(pids)]
