"""Where a coordinator's topic is led: terms begin, are loaded, append, and end."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

from logquake.node.metadata.coordinators import partition_for
from logquake.node.replication.settings import TopicConfig
from logquake.node.replication.values import ProduceEntry
from logquake.wire.errors import ErrorCode
from logquake.wire.records import ControlType, encode_end_marker, read_header
from logquake.wire.sentinels import NO_SEQUENCE
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers
from tests.unit.node.coordinators.words import TIMEOUT_MS, WordCoordinator, batch
from tests.unit.node.replication.one_broker import OneBroker
from tests.unit.node.replication.test_manager import FOLLOWER, fetch

LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
NOT_HERE = ErrorCode.NOT_COORDINATOR


def lead(broker: OneBroker, index: int = 0, *, epoch: int = 0) -> None:
    broker.lead(index, epoch=epoch, isr=(1,), replicas=(1,))
    broker.replicas.end_of_pass()


def follow(broker: OneBroker, index: int = 0, *, epoch: int) -> None:
    broker.assign(index, leader=2, epoch=epoch)
    broker.replicas.end_of_pass()


def write(broker: OneBroker, *batches: bytearray, index: int = 0) -> None:
    """What an earlier coordinator left in the log."""
    log = broker.partition(index).replica.log
    for records in batches:
        producer_id = read_header(memoryview(records)).producer_id
        guard = log.begin_verification(producer_id, 0, NO_SEQUENCE, 0)
        entry = ProduceEntry("orders", index, memoryview(records), guard=guard)
        broker.replicas.appends.add([entry], 1, 0, lambda _results: None, internal=True)
    broker.replicas.end_of_pass()


def lead_again(broker: OneBroker, *batches: bytearray) -> None:
    """Led at first without anybody coordinating; the log has these batches then."""
    lead(broker)
    write(broker, *batches)
    follow(broker, epoch=1)


def test_an_empty_log_is_loaded_at_once(broker: OneBroker, words: WordCoordinator) -> None:
    assert words.partitions.find_at(0) is NOT_HERE
    lead(broker)
    assert words.told == ["0 began in epoch 0"]
    assert words.term().state.current == {}
    assert not words.partitions.is_loading


def test_a_log_is_loaded_on_a_worker(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers, journal: MemoryJournal
) -> None:
    lead_again(broker, batch((b"a", b"1"), (b"b", b"2")), batch((b"a", None)))
    lead(broker, epoch=2)
    assert words.told == ["0 began in epoch 0", "0 ended"]
    assert words.partitions.find_at(0) is LOADING
    assert words.partitions.is_loading
    workers.finish()
    assert words.told[2:] == ["0 began in epoch 2"]
    assert words.term().state.current == {b"b": b"2"}
    assert [(r.offset, r.batch_offset) for r in words.term().state.seen] == [(0, 0), (1, 0), (2, 2)]
    (event,) = journal.of("coordinator-loaded")
    assert (event.before, event.after, event.epoch) == (0, 3, 2)


@pytest.mark.parametrize("chunk_bytes", [1, 100, 200, 1_000_000])
def test_chunks_of_any_size_load_the_same(
    broker: OneBroker,
    coordinate: Callable[[int], WordCoordinator],
    workers: HeldWorkers,
    chunk_bytes: int,
) -> None:
    batches = [batch((bytes([97 + i]), b"%d" % i)) for i in range(10)]
    lead_again(broker, *batches)
    words = coordinate(chunk_bytes)
    lead(broker, epoch=2)
    chunks = 0
    while workers:
        workers.finish()
        chunks += 1
    assert words.term().state.current == {bytes([97 + i]): b"%d" % i for i in range(10)}
    assert chunks == {1: 10, 100: 10, 200: 5, 1_000_000: 1}[chunk_bytes]


def test_markers_decide_transactions(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    def marker(control_type: ControlType, producer_id: int) -> bytearray:
        return encode_end_marker(
            control_type,
            coordinator_epoch=0,
            producer_id=producer_id,
            producer_epoch=0,
            timestamp_ms=1_000,
        )

    lead_again(
        broker,
        batch((b"a", b"1"), producer_id=1),
        batch((b"b", b"2"), producer_id=2),
        batch((b"c", b"3"), producer_id=3),
        marker(ControlType.COMMIT, 1),
        marker(ControlType.ABORT, 2),
    )
    lead(broker, epoch=2)
    workers.finish()
    state = words.term().state
    assert state.current == {b"a": b"1"}
    assert state.pending == {3: {b"c": b"3"}}


def test_what_is_appended_during_a_load_is_loaded(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    lead_again(broker, batch((b"a", b"1")))
    lead(broker, epoch=2)
    write(broker, batch((b"a", b"2")))
    workers.finish()
    assert words.partitions.find_at(0) is LOADING
    workers.finish()
    assert words.term().state.current == {b"a": b"2"}


def replicate(broker: OneBroker, up_to: int) -> None:
    """The follower says that it has so much."""
    fetch(broker, up_to, FOLLOWER, 0)
    broker.replicas.end_of_pass()


def load_uncommitted(broker: OneBroker, workers: HeldWorkers, *batches: bytearray) -> None:
    """Led with a follower that is not known to have what the log says."""
    broker.lead()
    broker.replicas.end_of_pass()
    write(broker, *batches)
    follow(broker, epoch=1)
    broker.lead(epoch=2)
    broker.replicas.end_of_pass()
    workers.finish()


def test_what_is_loaded_serves_once_it_is_committed(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    load_uncommitted(broker, workers, batch((b"a", b"1")), batch((b"a", b"2")))
    for replicated in (0, 1):
        replicate(broker, replicated)
        assert words.partitions.find_at(0) is LOADING
        assert words.partitions.is_loading
    replicate(broker, 2)
    assert words.term().state.current == {b"a": b"2"}


def test_what_is_appended_before_that_is_loaded_too(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    load_uncommitted(broker, workers, batch((b"a", b"1")))
    write(broker, batch((b"a", b"2")))
    replicate(broker, 1)
    workers.finish()
    assert words.partitions.find_at(0) is LOADING
    replicate(broker, 2)
    assert words.term().state.current == {b"a": b"2"}


def test_a_term_that_ends_before_that_never_serves(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    load_uncommitted(broker, workers, batch((b"a", b"1")))
    told = list(words.told)
    follow(broker, epoch=3)
    assert words.partitions.find_at(0) is NOT_HERE
    assert words.told == told
    lead(broker, epoch=4)
    workers.finish()
    assert words.term().state.current == {b"a": b"1"}


def test_a_later_epoch_of_the_same_leadership_goes_on(
    broker: OneBroker, words: WordCoordinator
) -> None:
    lead(broker)
    term = words.term()
    lead(broker, epoch=1)
    assert words.term() is term
    assert term.epoch == 1
    assert words.told == ["0 began in epoch 0"]


def test_a_load_that_nobody_wants_any_more_is_given_up(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    lead_again(broker, batch((b"a", b"1")))
    told = list(words.told)
    lead(broker, epoch=2)
    follow(broker, epoch=3)
    assert words.partitions.find_at(0) is NOT_HERE
    workers.finish()
    assert words.partitions.find_at(0) is NOT_HERE
    assert words.told == told
    lead(broker, epoch=4)
    workers.finish()
    assert words.term().state.current == {b"a": b"1"}


def test_logs_are_loaded_one_after_the_other(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    for index in range(3):
        lead(broker, index)
        write(broker, batch((b"a", b"%d" % index)), index=index)
        follow(broker, index, epoch=1)
    for index in range(3):
        lead(broker, index, epoch=2)
    for index in range(3):
        assert len(workers) == 1
        workers.finish()
        assert [term.index for term in words.partitions] == list(range(index + 1))
    assert [term.state.current[b"a"] for term in words.partitions] == [b"0", b"1", b"2"]


def test_an_append_is_answered_when_it_is_committed(
    broker: OneBroker, words: WordCoordinator
) -> None:
    broker.lead()
    broker.replicas.end_of_pass()
    words.put(words.term(), b"one")
    words.put(words.term(), b"two")
    broker.replicas.end_of_pass()
    assert words.told[1:] == []
    fetch(broker, 1, FOLLOWER, 0)
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["one: NONE at 0"]
    fetch(broker, 2, FOLLOWER, 0)
    broker.replicas.end_of_pass()
    assert words.told[2:] == ["two: NONE at 1"]


def test_an_append_that_is_not_replicated_times_out(
    broker: OneBroker, words: WordCoordinator, scheduler: ManualScheduler
) -> None:
    broker.lead()
    broker.replicas.end_of_pass()
    words.put(words.term(), b"one")
    broker.replicas.end_of_pass()
    scheduler.advance(TIMEOUT_MS)
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["one: REQUEST_TIMED_OUT at 0"]


def test_appends_are_answered_before_the_term_ends(
    broker: OneBroker, words: WordCoordinator
) -> None:
    broker.lead()
    broker.replicas.end_of_pass()
    words.put(words.term(), b"one")
    broker.replicas.end_of_pass()
    follow(broker, epoch=1)
    assert words.told[1:] == ["one: NOT_LEADER_OR_FOLLOWER at 0", "0 ended"]


def test_an_append_after_the_end_is_refused_later(
    broker: OneBroker, words: WordCoordinator, scheduler: ManualScheduler
) -> None:
    lead(broker)
    term = words.term()
    broker.assign(leader=2, epoch=1)
    broker.lead(epoch=2, isr=(1,), replicas=(1,))  # within one pass
    words.put(term, b"one")
    assert words.partitions.find_at(0) is NOT_HERE
    assert words.told[1:] == []
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["0 ended", "0 began in epoch 2"]
    scheduler.advance(0)
    assert words.told[3:] == ["one: NOT_LEADER_OR_FOLLOWER at -1"]
    assert broker.partition().replica.end == 0


def test_an_append_without_replication_is_answered_with_the_pass(
    broker: OneBroker, words: WordCoordinator
) -> None:
    broker.lead()
    broker.replicas.end_of_pass()
    words.put(words.term(), b"one", acks=1)
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["one: NONE at 0"]


def test_a_batch_above_the_topics_limit_is_refused(
    broker: OneBroker, words: WordCoordinator
) -> None:
    lead(broker)
    words.put(words.term(), b"w" * 2_000_000)
    broker.replicas.end_of_pass()
    assert words.told[1].endswith(": MESSAGE_TOO_LARGE at -1")


def test_a_replica_that_is_deleted_ends_its_term(broker: OneBroker, words: WordCoordinator) -> None:
    lead(broker)
    broker.delete([0])
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["0 ended"]
    assert words.partitions.find_at(0) is NOT_HERE


def test_a_lost_disk_ends_the_term(broker: OneBroker, words: WordCoordinator) -> None:
    lead(broker)
    words.put(words.term(), b"one")
    broker.partition().go_offline("gone")
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["one: KAFKA_STORAGE_ERROR at 0", "0 ended"]


def test_a_disk_that_cannot_be_read_ends_a_load(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers
) -> None:
    lead_again(broker, batch((b"a", b"1")))
    lead(broker, epoch=2)
    broker.disk.faults.fail_read(1, OSError(5, "Input/output error"), lasting=False)
    workers.finish()
    broker.replicas.end_of_pass()
    assert words.partitions.find_at(0) is NOT_HERE
    assert words.told == ["0 began in epoch 0", "0 ended"]


def test_records_that_cannot_be_read_are_left_out(
    broker: OneBroker, words: WordCoordinator, workers: HeldWorkers, journal: MemoryJournal
) -> None:
    lead_again(broker, batch((b"a", b"1"), (b"7", b"2")), batch((b"b", b"3")))
    lead(broker, epoch=2)
    workers.finish()
    assert words.term().state.current == {b"a": b"1", b"b": b"3"}
    (event,) = journal.of("coordinator-records-left-out")
    assert event.why == "1 records or batches, the first at offset 1: keys are letters"


def test_a_key_is_found_in_its_partition(broker: OneBroker, words: WordCoordinator) -> None:
    lead(broker)
    assert words.partitions.find("g") is words.term()


@pytest.mark.parametrize(
    ("key", "partition"), [("", 0), ("g1", 2), ("polygenelubricants", 0), ("gr\u00fc\u00dfe", 3)]
)
def test_a_keys_partition_follows_from_javas_hash(key: str, partition: int) -> None:
    assert partition_for(key, 4) == partition


def test_acks_all_needs_the_minimal_isr(broker: OneBroker, words: WordCoordinator) -> None:
    broker.config = TopicConfig(min_insync_replicas=2)
    broker.lead(isr=(1,))
    broker.replicas.end_of_pass()
    words.put(words.term(), b"one")
    broker.replicas.end_of_pass()
    assert words.told[1:] == ["one: NOT_ENOUGH_REPLICAS at -1"]


def test_a_term_that_is_over_goes_by_reference_count(
    broker: OneBroker, words: WordCoordinator
) -> None:
    gc.collect()
    gc.disable()
    try:
        broker.lead()
        broker.replicas.end_of_pass()
        words.put(words.term(), b"one")
        state = weakref.ref(words.term().state)
        follow(broker, epoch=1)
        assert state() is None
    finally:
        gc.enable()
