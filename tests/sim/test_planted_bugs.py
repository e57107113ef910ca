"""Bugs planted into the brokers are found: the invariants are not empty words.

The world's own, which know nothing of how a broker is built, find them without the help of those
that classes assert of themselves; where a class would have told sooner, that is shown too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from logquake.controller.channels import vigil
from logquake.controller.events import create_topics
from logquake.controller.events.create_topics import NewTopic, TopicCreation
from logquake.controller.office import candidacy, office
from logquake.controller.office.candidacy import Incumbent, Mandate
from logquake.controller.rules.partitions import Leadership
from logquake.controller.term import Term
from logquake.controller.zookeeper.guarded_zk import GuardedZk, UnitOutcome
from logquake.node.composition import composer
from logquake.node.controller_link import ControllerRequests
from logquake.node.replication.fetcher import offset_reset
from logquake.node.replication.fetcher.fetcher import ReplicaFetcher
from logquake.node.replication.partition import reading
from logquake.node.replication.partition.alter_partition import AlterPartitionManager
from logquake.node.replication.partition.isr import PendingShrink
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.progress import FollowerProgress
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.partition.roles import Leader
from logquake.node.replication.purgatories import delayed_delete_records
from logquake.seams.network import Channel, Disconnected
from logquake.storage.log.log import Log
from logquake.storage.log.start import LogStart
from logquake.storage.producers import entry
from logquake.storage.producers.recovery import ProducerRecovery
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message
from logquake.wire.sentinels import LATEST_TIMESTAMP
from logquake.zk.operations import ANY_VERSION, Data, Delete, Failed
from logquake.zk.znodes.control import CONTROLLER_PATH
from tests.sim.simulation import Simulation, SimulationFailure

SEEDS = 60  # most bugs are found by one in ten, the rarest by one of them

Plant = Callable[[pytest.MonkeyPatch], None]


def without_truncation_by_epoch(patch: pytest.MonkeyPatch) -> None:
    """KIP-101 off: a leader does not tell a follower that its log went another way."""
    patch.setattr(reading, "_divergence", lambda _replica, _asked: None)


def without_min_isr(patch: pytest.MonkeyPatch) -> None:
    """A lone leader acks."""
    patch.setattr(Leader, "effective_min_isr", lambda _self, _configured: 1)


def with_hasty_shrinking(patch: pytest.MonkeyPatch) -> None:
    """A follower counts as gone before the controller has said so."""
    patch.setattr(PendingShrink, "maximal", property(lambda pending: pending.proposed))


def with_early_joining(patch: pytest.MonkeyPatch) -> None:
    """A follower may join the ISR before it has what earlier epochs committed."""
    patch.setattr(
        Leader, "may_join", lambda leader, replica, _mark: replica not in leader.isr.committed
    )


def with_a_takeover_of_any_epoch(patch: pytest.MonkeyPatch) -> None:
    """Whoever sees the controller refused takes its office, whatever has happened since."""

    async def take_any(_incumbent: Incumbent, broker_id: int, now_ms: int) -> Mandate:
        read = await candidacy._read_epoch()
        current = Mandate(read.epoch, ANY_VERSION)
        return await candidacy._win(broker_id, now_ms, current, Delete(CONTROLLER_PATH))

    patch.setattr(office, "take_over", take_any)


def without_return(patch: pytest.MonkeyPatch) -> None:
    """A broker that was refused once is not taken back when it accepts."""
    patch.setattr(vigil.Vigil, "_on_held", _held_for_nothing)


def _held_for_nothing(self: vigil.Vigil) -> None:
    self._cancel_timer()


def without_beginning_with_a_batch(patch: pytest.MonkeyPatch) -> None:
    """A follower whose log is empty waits for a start within a batch, which never comes alone."""

    def append(replica: ReplicaLog, records: memoryview, now_ms: int, **_: int) -> None:
        replica.log.stage_as_follower(records, now_ms)
        replica.log.commit()

    patch.setattr(ReplicaLog, "append_from_leader", append)


def without_waiting_for_starts(patch: pytest.MonkeyPatch) -> None:
    """DeleteRecords is answered as soon as the leader's log starts there."""
    patch.setattr(
        delayed_delete_records, "low_watermark", lambda partition, _leader: partition.replica.start
    )


def with_starts_beyond_the_mark(patch: pytest.MonkeyPatch) -> None:
    """A log may start where nothing is committed yet."""
    raise_to = LogStart.raise_to
    patch.setattr(LogStart, "raise_to", lambda log, offset, _mark: raise_to(log, offset, offset))


def with_restarts_at_the_end(patch: pytest.MonkeyPatch) -> None:
    """A follower whom the leader's start has passed goes on at the leader's end."""
    patch.setattr(offset_reset, "EARLIEST_TIMESTAMP", LATEST_TIMESTAMP)


def without_asking_for_an_isr_again(patch: pytest.MonkeyPatch) -> None:
    """A proposal whose answer was lost is forgotten, and with it every later one."""
    patch.setattr(composer, "ControllerRequests", AskedOnce)
    patch.setattr(AlterPartitionManager, "_retry_later", lambda _self: None)


class AskedOnce(ControllerRequests):
    def ask(
        self, request: Callable[[], Message], version: int, done: Callable[[Message], None]
    ) -> None:
        def answered(answer: Message | Disconnected) -> None:
            if not isinstance(answer, Disconnected):
                done(answer)

        def send(channel: Channel | None) -> None:
            assert channel is not None
            channel.send(request(), version, answered)

        self.find(send)


def without_fetching_after_a_rest(patch: pytest.MonkeyPatch) -> None:
    """A follower that met an error does not go on when its back-off is over."""
    patch.setattr(ReplicaFetcher, "_on_resume_timer", lambda _self: None)


def without_setting_aside(patch: pytest.MonkeyPatch) -> None:
    """A state that makes no sense fails whatever event meets it."""

    def found(zk: GuardedZk, outcome: Data | Failed) -> Leadership | None:
        return None if isinstance(outcome, Failed) else zk._leadership(outcome)

    patch.setattr(GuardedZk, "_found", found)


def without_producers_after_a_start(patch: pytest.MonkeyPatch) -> None:
    """Whoever starts, or truncates its log, knows no producer any more."""

    def run(recovery: ProducerRecovery, _start: int, end_offset: int, *_: object) -> None:
        recovery._states.load((), end_offset)

    patch.setattr(ProducerRecovery, "run", run)


def with_two_batches_remembered(patch: pytest.MonkeyPatch) -> None:
    """A producer that sends again what it had in flight is told that it skipped something."""
    patch.setattr(entry, "BATCHES_RETAINED", 2)


def with_topics_made_in_two_writes(patch: pytest.MonkeyPatch) -> None:
    """As in Kafka: a controller that dies between them leaves a configuration without a topic."""

    async def write_apart(term: Term, wanted: Mapping[int, NewTopic]) -> dict[int, UnitOutcome]:
        made: dict[int, UnitOutcome] = {}
        for place, new in wanted.items():
            for znode in create_topics._znodes(new):
                (made[place],) = await term.zk.write_units([(znode,)])
        return made

    patch.setattr(create_topics, "_write_znodes", write_apart)


def with_topics_answered_too_soon(patch: pytest.MonkeyPatch) -> None:
    """A client is told of its topic before ZooKeeper has it."""
    carry_out = TopicCreation.carry_out

    async def answer_first(creation: TopicCreation, term: Term) -> None:
        creation.refuse_rest(ErrorCode.NONE)
        patch.setattr(creation, "_reply", lambda _response: None)
        await carry_out(creation, term)

    patch.setattr(TopicCreation, "carry_out", answer_first)


KEPT = (AlterPartitionManager, FollowerProgress, Leader, Log, Partition, ReplicaLog)


@pytest.fixture
def only_the_world_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in KEPT:
        monkeypatch.setattr(kept, "check_invariants", lambda _self: None)


def first_failure() -> str:
    for seed in range(SEEDS):
        try:
            Simulation(seed).run()
        except SimulationFailure as failure:
            return str(failure)
    return "nothing was found"


@pytest.mark.parametrize(
    ("plant", "found_by"),
    [
        (
            without_truncation_by_epoch,
            "isr_candidate_completeness|one_value_per_offset|log_matching|live",
        ),
        (without_min_isr, "min_isr"),
        (
            with_hasty_shrinking,
            "isr_candidate_completeness|leader_completeness|one_value_per_offset",
        ),
        (with_early_joining, "isr_candidate_completeness|leader_completeness"),
        (without_asking_for_an_isr_again, "live"),
        (without_fetching_after_a_rest, "live"),
        (with_a_takeover_of_any_epoch, "one_controller"),
        (without_return, "live"),
        (without_beginning_with_a_batch, "live"),
        (without_waiting_for_starts, "low_watermark"),
        (with_starts_beyond_the_mark, "log_start"),
        (with_restarts_at_the_end, "log_start"),
        (without_setting_aside, "live"),
        (without_producers_after_a_start, "idempotence"),
        (with_two_batches_remembered, "idempotence"),
        (with_topics_made_in_two_writes, "topics_made"),
        (with_topics_answered_too_soon, "topics_made"),
    ],
)
@pytest.mark.usefixtures("only_the_world_judges")
def test_a_planted_bug_is_found(
    plant: Plant, found_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert re.search(f"^seed .*: ({found_by}) does not hold", first_failure())


@pytest.mark.parametrize(
    ("plant", "found_by"),
    [
        (with_hasty_shrinking, "committed within maximal"),
        (with_starts_beyond_the_mark, "start <= (high watermark <= end|end <= staged)"),
    ],
)
def test_the_class_that_a_planted_bug_breaks_tells_at_once(
    plant: Plant, found_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    failure = first_failure()
    assert re.match(r"seed \d+, event \d+: no_crash does not hold", failure)
    assert re.search(f"InvariantError: {found_by}: ", failure)


def test_a_failure_shows_seed_statement_and_last_events_and_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_min_isr(monkeypatch)
    failure = first_failure()
    seed = re.match(r"seed (\d+), event \d+: min_isr does not hold\nacks=all ok means", failure)
    assert seed
    assert 30 <= len(re.findall(r"^ *\d+\.\d{3} ms  ", failure, re.MULTILINE)) <= 40
    with pytest.raises(SimulationFailure) as repeated:
        Simulation(int(seed[1])).run()
    assert str(repeated.value) == failure
