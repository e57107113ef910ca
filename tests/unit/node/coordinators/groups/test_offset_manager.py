"""Commits on a log with followers: answered when replicated, and what is left when they are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import pytest

from logquake.node.coordinators.groups.group import Committer
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.offset_manager import FetchedOffset, OffsetManager
from logquake.node.coordinators.groups.offset_removal import OffsetRemoval
from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.replication.values import ProduceEntry
from logquake.wire.errors import ErrorCode
from logquake.wire.records import ControlType, encode_end_marker
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers
from tests.unit.node.coordinators.groups.coordinated import CoordinatedGroups
from tests.unit.node.replication.one_broker import OneBroker

ONE = TopicPartition("clicks", 0)
TWO = TopicPartition("clicks", 1)
NOBODY = Committer()
NO_OFFSET = FetchedOffset(ErrorCode.NONE)
PRODUCER = TransactionalProducer("t", 7, 0, knows_abortable=True)
SETTINGS = OffsetSettings(retention_ms=3_600_000, max_metadata_size=4)


class Offsets(CoordinatedGroups):
    @property
    def manager(self) -> OffsetManager:
        return self.coordinator.offsets

    @property
    def removal(self) -> OffsetRemoval:
        return self.coordinator.removal

    def commit(
        self, offset: int, *partitions: TopicPartition, group: str = "g", who: Committer = NOBODY
    ) -> list[dict[TopicPartition, ErrorCode]]:
        return self._committed(
            lambda values, done: self.manager.commit(group, who, values, done), offset, partitions
        )

    def commit_transactional(
        self, offset: int, *partitions: TopicPartition, group: str = "g", who: Committer = NOBODY
    ) -> list[dict[TopicPartition, ErrorCode]]:
        return self._committed(
            lambda values, done: self.manager.commit_transactional(
                group, PRODUCER, who, values, done
            ),
            offset,
            partitions,
        )

    def _committed(
        self,
        begin: Callable[..., None],
        offset: int,
        partitions: tuple[TopicPartition, ...],
    ) -> list[dict[TopicPartition, ErrorCode]]:
        answers: list[dict[TopicPartition, ErrorCode]] = []
        value = OffsetAndMetadata(offset, commit_ms=self.scheduler.wall_ms())
        begin(dict.fromkeys(partitions or (ONE,), value), answers.append)
        self.end_pass()
        return answers

    def mark(self, *, committed: bool) -> None:
        """The transaction ends, and everybody has the marker."""
        marker = encode_end_marker(
            ControlType.COMMIT if committed else ControlType.ABORT,
            coordinator_epoch=0,
            producer_id=PRODUCER.producer_id,
            producer_epoch=PRODUCER.producer_epoch,
            timestamp_ms=0,
        )
        entry = ProduceEntry("orders", 0, memoryview(marker))
        self.broker.replicas.appends.add([entry], 1, 0, lambda _results: None, internal=True)
        self.end_pass()
        self.replicate()
        self.manager.on_transaction_completed(PRODUCER.producer_id, [0], committed=committed)

    def holds(
        self, partition: TopicPartition = ONE, *, group: str = "g", require_stable: bool = False
    ) -> int | ErrorCode | None:
        found = self.manager.fetch(group, [partition], require_stable=require_stable)
        if isinstance(found, ErrorCode):
            return found
        error, value = found[partition]
        return error or (None if value is None else value.offset)

    def check_replay(self) -> None:
        """The log, loaded anew, says what is known: without what is not committed yet."""
        loaded = self.load_anew()
        self.manager.fetch("g", None, require_stable=False)  # which settles doubts
        assert offsets_of(loaded) == offsets_of(self.state)


def offsets_of(state: GroupPartition) -> dict[str, object]:
    return {group.group_id: group.offsets for group in state if any(group.offsets)}


@pytest.fixture
def records() -> OffsetSettings:
    return SETTINGS


@pytest.fixture
def offsets(
    broker: OneBroker,
    scheduler: ManualScheduler,
    workers: HeldWorkers,
    journal: MemoryJournal,
    records: OffsetSettings,
) -> Offsets:
    return Offsets(broker, scheduler, workers, journal, GroupSettings(), records)


def test_a_commit_is_answered_and_seen_when_it_is_replicated(offsets: Offsets) -> None:
    answers = offsets.commit(5, ONE, TWO)
    assert answers == []
    assert offsets.holds() is None
    assert offsets.holds(require_stable=True) is ErrorCode.UNSTABLE_OFFSET_COMMIT
    offsets.replicate()
    assert answers == [{ONE: ErrorCode.NONE, TWO: ErrorCode.NONE}]
    assert (offsets.holds(), offsets.holds(TWO, require_stable=True)) == (5, 5)
    offsets.check_replay()


def test_a_commit_that_times_out_holds_once_it_is_replicated(
    offsets: Offsets, scheduler: ManualScheduler
) -> None:
    answers = offsets.commit(5)
    scheduler.advance(SETTINGS.commit_timeout_ms)
    assert answers == [{ONE: ErrorCode.REQUEST_TIMED_OUT}]
    assert offsets.holds(require_stable=True) is None
    offsets.replicate()
    assert offsets.holds() == 5
    offsets.check_replay()


def test_a_later_commit_of_a_transaction_is_not_undone_by_one_in_doubt(
    offsets: Offsets, scheduler: ManualScheduler
) -> None:
    offsets.commit_transactional(5)
    scheduler.advance(SETTINGS.commit_timeout_ms)
    offsets.commit_transactional(6)
    offsets.replicate()
    offsets.mark(committed=True)
    assert offsets.holds() == 6
    offsets.check_replay()


def test_a_commit_that_timed_out_and_was_deleted_stays_so(
    offsets: Offsets, scheduler: ManualScheduler
) -> None:
    offsets.commit(5)
    scheduler.advance(SETTINGS.commit_timeout_ms)
    assert offsets.removal.delete("g", [ONE]) == {ONE: ErrorCode.NONE}
    offsets.end_pass()
    offsets.replicate()
    assert offsets.holds() is None
    offsets.check_replay()


def test_a_lost_leadership_is_told_as_a_lost_coordinator(
    offsets: Offsets, broker: OneBroker
) -> None:
    answers = offsets.commit(5)
    broker.assign(leader=2, epoch=1)
    offsets.end_pass()
    assert answers == [{ONE: ErrorCode.NOT_COORDINATOR}]
    assert offsets.holds() is ErrorCode.NOT_COORDINATOR


def test_too_much_metadata_is_refused_alone(offsets: Offsets) -> None:
    answers: list[object] = []
    values = {ONE: OffsetAndMetadata(1, metadata="five5"), TWO: OffsetAndMetadata(2)}
    offsets.manager.commit("g", NOBODY, values, answers.append)
    offsets.end_pass()
    offsets.replicate()
    assert answers == [{ONE: ErrorCode.OFFSET_METADATA_TOO_LARGE, TWO: ErrorCode.NONE}]
    assert (offsets.holds(), offsets.holds(TWO)) == (None, 2)


@pytest.mark.parametrize(
    ("metadata", "fits"), [("four", True), ("\U0001f600" * 2, True), ("\U0001f600" * 3, False)]
)
def test_metadata_is_measured_as_java_does(offsets: Offsets, metadata: str, fits: bool) -> None:
    answers: list[Mapping[TopicPartition, ErrorCode]] = []
    value = OffsetAndMetadata(1, metadata=metadata)
    offsets.manager.commit("g", NOBODY, {ONE: value}, answers.append)
    offsets.end_pass()
    offsets.replicate()
    assert (answers[0][ONE] is ErrorCode.NONE) == fits


class TestWithRoomForMuchMetadata:
    @pytest.fixture
    def records(self) -> OffsetSettings:
        return OffsetSettings(max_metadata_size=32_767)

    def test_what_grew_too_long_for_a_record_is_refused(self, offsets: Offsets) -> None:
        """As bytes do that are no UTF-8, when they are read and written again."""
        answers: list[object] = []
        values = {ONE: OffsetAndMetadata(1, metadata="\ufffd" * 32_767), TWO: OffsetAndMetadata(2)}
        offsets.manager.commit("g", NOBODY, values, answers.append)
        assert answers == [dict.fromkeys(values, ErrorCode.UNKNOWN_SERVER_ERROR)]
        assert not offsets.state.get_or_add("g").offsets.is_unstable(ONE)


def test_members_of_nothing_cannot_commit(offsets: Offsets) -> None:
    stranger = Committer("m", None, 3)
    assert offsets.commit(5, who=stranger) == [{ONE: ErrorCode.ILLEGAL_GENERATION}]
    offsets.commit(5)
    assert offsets.commit(6, who=stranger) == [{ONE: ErrorCode.UNKNOWN_MEMBER_ID}]
    assert offsets.commit_transactional(6, who=stranger) == [{ONE: ErrorCode.UNKNOWN_MEMBER_ID}]


def test_a_transactions_offsets_hold_when_it_commits(offsets: Offsets) -> None:
    offsets.commit_transactional(5)
    offsets.replicate()
    assert offsets.holds() is None
    assert offsets.holds(require_stable=True) is ErrorCode.UNSTABLE_OFFSET_COMMIT
    offsets.mark(committed=True)
    assert offsets.holds(require_stable=True) == 5
    offsets.check_replay()


def test_a_transactions_offsets_go_when_it_aborts(offsets: Offsets) -> None:
    offsets.commit_transactional(5)
    offsets.replicate()
    offsets.mark(committed=False)
    assert offsets.holds(require_stable=True) is None
    offsets.check_replay()


def test_an_open_transaction_is_found_by_the_next_coordinator(
    offsets: Offsets, broker: OneBroker, workers: HeldWorkers
) -> None:
    offsets.commit(4, TWO)
    offsets.commit_transactional(5)
    offsets.replicate()
    broker.assign(leader=2, epoch=1)
    offsets.end_pass()
    broker.lead(epoch=2)
    offsets.end_pass()
    assert offsets.holds() is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    workers.finish()
    assert offsets.holds(TWO) == 4
    assert offsets.holds(require_stable=True) is ErrorCode.UNSTABLE_OFFSET_COMMIT
    offsets.mark(committed=True)
    assert offsets.holds() == 5


def test_the_empty_group_can_commit_but_nothing_else(offsets: Offsets) -> None:
    refused = ErrorCode.INVALID_GROUP_ID
    offsets.commit(5, group="")
    offsets.replicate()
    assert offsets.holds(group="") == 5
    assert offsets.commit_transactional(5, group="") == [{ONE: refused}]
    assert offsets.removal.delete("", [ONE]) is refused


def test_old_offsets_and_groups_without_any_go(
    offsets: Offsets, scheduler: ManualScheduler
) -> None:
    offsets.coordinator.start()
    offsets.commit(5)
    offsets.commit(6, group="idle", who=Committer(generation_id=-1))
    offsets.replicate()
    scheduler.advance(SETTINGS.retention_ms - 1_000)
    offsets.commit(7)
    offsets.replicate()
    scheduler.advance(SETTINGS.retention_check_interval_ms + 1_000)
    offsets.end_pass()
    assert [group.group_id for group in offsets.state] == ["g"]
    assert (offsets.holds(), offsets.holds(group="idle")) == (7, None)
    offsets.replicate()
    offsets.check_replay()


def test_a_group_that_got_nothing_is_forgotten(
    offsets: Offsets, scheduler: ManualScheduler
) -> None:
    offsets.coordinator.start()
    offsets.commit_transactional(5, who=Committer("m", None, 3))
    assert [group.group_id for group in offsets.state] == ["g"]
    scheduler.advance(SETTINGS.retention_check_interval_ms)
    assert list(offsets.state) == []
    assert offsets.end == 0


def test_offsets_of_deleted_partitions_go(offsets: Offsets) -> None:
    offsets.commit(5, ONE, TWO)
    offsets.commit(5, TWO, group="h")
    offsets.replicate()
    offsets.removal.forget([TWO])
    offsets.end_pass()
    offsets.replicate()
    assert (offsets.holds(), offsets.holds(TWO)) == (5, None)
    assert [group.group_id for group in offsets.state] == ["g"]
    offsets.check_replay()


def test_deleting(offsets: Offsets) -> None:
    assert offsets.removal.delete("g", [ONE]) is ErrorCode.GROUP_ID_NOT_FOUND
    offsets.commit(5, ONE, TWO)
    offsets.replicate()
    assert offsets.removal.delete("g", [ONE]) == {ONE: ErrorCode.NONE}
    assert offsets.manager.fetch("g", None, require_stable=False) == {
        TWO: FetchedOffset(ErrorCode.NONE, offsets.state.get("g").offsets.get(TWO))  # type: ignore[union-attr]
    }
    offsets.end_pass()
    offsets.replicate()
    offsets.check_replay()


@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_the_log_says_what_is_known(
    offsets: Offsets, scheduler: ManualScheduler, seed: int
) -> None:
    """The state that replay makes is the state before it, after any of these in any order."""
    random = Random(seed)
    offsets.coordinator.start()

    def partitions() -> list[TopicPartition]:
        return random.sample([ONE, TWO, TopicPartition("views", 0)], random.randint(1, 3))

    actions: list[Callable[[], object]] = [
        lambda: offsets.commit(random.randrange(100), *partitions(), group=random.choice("gh")),
        lambda: offsets.commit(random.randrange(100), *partitions()),
        lambda: offsets.commit_transactional(random.randrange(100), *partitions()),
        lambda: offsets.mark(committed=random.random() < 0.5),
        lambda: offsets.removal.delete("g", partitions()),
        lambda: offsets.removal.forget([ONE]),
        lambda: scheduler.advance(random.choice([10, 5_000, 2_000_000])),
        offsets.replicate,
        offsets.replicate,
    ]
    for _ in range(80):
        random.choice(actions)()
        offsets.end_pass()
        if random.random() < 0.2:
            offsets.replicate()
            offsets.check_replay()
