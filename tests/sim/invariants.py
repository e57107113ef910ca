"""What must hold after every event. Each function yields what is wrong; nothing if it holds.

The statements are those by which the whole project is judged. A function sees what one event
changed and looks no further than that change makes necessary: what did not change still holds.
`EVERY_EVENT` names the fields of a `Step` that each looks at: only what is in them can break it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

from logquake.chaos.checkers.sequences import after_batch, after_marker, due
from logquake.chaos.checkers.transitions import (
    is_of_earlier_controller,
    problems_of_epoch,
    problems_of_state,
)
from logquake.chaos.evidence.decisions import EpochWrite, StateWrite
from logquake.node.coordinators.replay import Progress, replay_batches
from logquake.node.metadata.topic_names import is_internal
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState
from tests.sim.history import Acked, Polled, Skipped
from tests.sim.replicas import Batch, Replica
from tests.sim.step import FIELDS, Step
from tests.sim.world import Committed, World, hosted_controller, hosted_groups

Invariant = Callable[[World, Step], Iterator[str]]


def one_value_per_offset(world: World, step: Step) -> Iterator[str]:
    """One value per offset across acks, polls and committed prefixes of all replicas."""
    for ack in step.acked:
        found = world.committed[ack.partition].at(ack.first)
        if found is None or found.value != ack.send.value:
            yield f"{ack} was acked, but committed there is {found}"
    for poll in step.polled:
        found = world.committed[poll.partition].at(poll.first)
        if found is None or found.value != poll.value:
            yield f"{poll} was read, but committed there is {found}"
    for mark in step.marks:
        committed = world.committed.get(mark.replica.partition)
        if committed is not None:
            end = min(mark.after, committed.end)
            replica = mark.replica
            is_known = replica.batches and end >= replica.highest_start
            if is_known and replica.prefixes.get(end) != committed.prefixes.get(end):
                yield f"{mark} covers other records than those committed: {committed.batches[-3:]}"


def idempotence(world: World, step: Step) -> Iterator[str]:
    """v at one offset at most; (producer id, epoch, sequence) unique and contiguous modulo 2^31, an
    epoch's from 0 on, and no earlier epoch's after it.

    A producer that repeats and never skips is told of a gap by a leader that may have forgotten the
    batch, and by no other. One that forgot all of a producer takes any sequence for its first: a
    batch, too, that was committed, deleted, and sent again because its answer was lost.
    """
    for partition, batch in step.committed:
        if batch.is_control:
            yield from _end_of_transaction(world, partition, batch)
            continue
        if is_internal(partition.topic):  # a coordinator's own, which no producer numbers
            continue
        first = world.values.setdefault(batch.value, (partition, batch.first))
        if first != (partition, batch.first) and batch.producer_id >= 0:
            if world.was_deleted_and_forgotten(partition, batch, first):
                world.written_again.add(batch.value)
            else:
                yield f"{batch} in {partition} was committed before, at {first}"
        if batch.producer_id < 0:
            continue
        key = (partition, batch.producer_id)
        known = world.sequences.get(key)
        epoch, expected = due(known, batch.producer_epoch, batch.sequence)
        if (batch.producer_epoch, batch.sequence) != (epoch, expected):
            if batch.producer_epoch == epoch and world.was_first_known(partition, batch):
                world.begun_amid.add(partition)
            else:
                yield f"{batch} in {partition}: sequence {expected} of epoch {epoch} was to follow"
        world.sequences[key] = after_batch(epoch, batch.sequence, batch.next - batch.first)
    for refused in step.refused:
        if not refused.is_absent and not world.may_have_forgotten(refused.broker, refused.send):
            yield f"{refused}: a producer that repeats and never skips was told of a gap"


def _end_of_transaction(world: World, partition: TopicPartition, batch: Batch) -> Iterator[str]:
    """A marker may begin a producer's next epoch, and is of no earlier one."""
    key = (partition, batch.producer_id)
    known = world.sequences.get(key)
    if known is not None and batch.producer_epoch < known[0]:
        yield f"{batch} in {partition}: a marker of an epoch before {known[0]}"
    world.sequences[key] = after_marker(known, batch.producer_epoch)


def log_matching(world: World, step: Step) -> Iterator[str]:
    """The same (offset, epoch) on two replicas means byte-identical prefixes."""
    for replica, batch in step.appended:
        key = (replica.partition, batch.first, batch.epoch)
        known = world.prefix_by_position.setdefault(key, batch.prefix)
        if known != batch.prefix:
            yield f"broker {replica.broker} has another log up to {batch} than was seen before"


def one_leader_per_epoch(world: World, step: Step) -> Iterator[str]:
    """ZooKeeper names one leader per epoch; only it originates that epoch's batches."""
    for replica, batch in step.appended:
        for machine, partition in world.leaders(replica.partition):
            if machine.broker_id != replica.broker:
                continue
            named = world.decisions.partitions[replica.partition].leaders.get(batch.epoch)
            if partition.leader_epoch == batch.epoch and named != replica.broker:
                yield f"broker {replica.broker} wrote {batch}, but {named} leads in that epoch"
    for mark in step.marks:
        epochs = [
            (one.leader_epoch, machine.broker_id)
            for machine, one in world.leaders(mark.replica.partition)
        ]
        if len({epoch for epoch, _ in epochs}) != len(epochs):
            yield f"{mark.replica.partition} has leaders of one epoch: {epochs}"


def isr_candidate_completeness(world: World, step: Step) -> Iterator[str]:
    """At all times every ISR member holds everything committed, from its log's start on, or its
    leader's: the answer that tells a follower where that is may come after it has joined.
    """
    for partition in _changed(step):
        state = world.decisions.partitions[partition].state
        committed = world.committed.get(partition)
        if state is None or committed is None:
            continue
        for broker in state.isr:
            replica = world.replica(broker, partition)
            if not replica.holds_from_start(
                committed.end, committed.prefix
            ) and not _holds_from_leaders_start(world, state, replica, committed):
                yield (
                    f"{partition}: broker {broker} is in the ISR {list(state.isr)}, starts at "
                    f"{replica.start}, has {replica.begins} to {replica.end}; committed is up to "
                    f"{committed.end}"
                )


def _holds_from_leaders_start(
    world: World, state: PartitionState, replica: Replica, committed: Committed
) -> bool:
    if state.leader == NO_LEADER or replica.end < committed.end:
        return False
    start = world.replica(state.leader, replica.partition).highest_start
    return replica.holds_all(committed.since(start))


def leader_completeness(world: World, step: Step) -> Iterator[str]:
    """An elected leader's log end is at or above everything committed."""
    for decision in step.decisions:
        if not isinstance(decision, StateWrite) or decision.after.leader == NO_LEADER:
            continue
        committed = world.committed.get(decision.partition)
        replica = world.replica(decision.after.leader, decision.partition)
        if committed and not replica.holds_from_start(committed.end, committed.prefix):
            yield f"{decision} elects a log that ends at {replica.end}, below {committed.end}"


def high_watermark(world: World, step: Step) -> Iterator[str]:
    """At most the smallest log end over ISR and pending ISR; never falls within an epoch.

    A member that lost its disk since it left the ISR is none, whatever a leader still believes.
    """
    for mark in step.marks:
        if mark.role != "Leader":
            continue
        if mark.before is not None and mark.after < mark.before:
            yield f"{mark} fell within a leader epoch"
        for machine, partition in world.leaders(mark.replica.partition):
            if machine.broker_id != mark.replica.broker or partition.leader is None:
                continue
            where = mark.replica.partition
            members = [b for b in partition.leader.isr.maximal if (b, where) not in world.emptied]
            ends = {b: world.replica(b, where).end for b in members}
            if mark.after > min(ends.values(), default=0):
                yield f"{mark} is above a member's log end: {ends}"


def truncation(world: World, step: Step) -> Iterator[str]:
    """Truncation never removes a committed offset from an ISR member."""
    for cut in step.cuts:
        committed = world.committed.get(cut.replica.partition)
        state = world.decisions.partitions[cut.replica.partition].state
        if committed and state and cut.replica.broker in state.isr and cut.after < committed.end:
            yield f"{cut} went below {committed.end}, which is committed"


def isr_history(_world: World, step: Step) -> Iterator[str]:
    """Leader in ISR, ISR within replicas; a write names the version that it replaces; a leader
    change bumps the epoch; a new leader comes from the previous ISR.
    """
    for decision in step.decisions:
        if isinstance(decision, StateWrite):
            for problem in problems_of_state(decision):
                yield f"{problem}: {decision}"
            if decision.is_unclean:
                yield f"the new leader was not in the ISR: {decision}"


def one_controller(world: World, step: Step) -> Iterator[str]:
    """Controller epochs strictly increase, one owner each; no applied write carries an older
    epoch.
    """
    for decision in step.decisions:
        if isinstance(decision, EpochWrite):
            for problem in problems_of_epoch(decision, world.controllers):
                yield f"{problem}: {decision}"
        elif isinstance(decision, StateWrite) and is_of_earlier_controller(decision):
            yield f"an earlier controller wrote: {decision}"


def min_isr(world: World, step: Step) -> Iterator[str]:
    """acks=all ok means that the minimum of replicas has it; NOT_ENOUGH_REPLICAS means not
    appended.
    """
    for ack in step.acked:
        holders = [
            broker
            for broker in world.machines
            if world.replica(broker, ack.partition).held(ack.send.value, ack.first, ack.next)
        ]
        if len(holders) < world.min_isr:
            yield f"{ack} is held by {holders} alone; the minimum is {world.min_isr}"
    for refused in step.refused:
        if not refused.is_absent:
            continue
        for broker in world.machines:
            replica = world.replica(broker, refused.send.partition)
            if any(batch.value == refused.send.value for batch in replica.batches):
                yield f"{refused} is in the log of broker {broker} all the same"


def groups(_world: World, step: Step) -> Iterator[str]:
    """A controller's groups of partitions are what assignments, leaders and statuses make them."""
    for machine in step.acted:
        controller = hosted_controller(machine)
        if controller is not None:
            yield from controller.misplaced()


def refused_is_gone(world: World, step: Step) -> Iterator[str]:
    """Whoever refuses the controller's connections is neither elected by it nor joins an ISR.

    It may still be named as the leader that it was: replicas leave the ISRs broker by broker.
    """
    for decision in step.decisions:
        if isinstance(decision, StateWrite):
            gone = world.refused.get(decision.after.controller_epoch, frozenset())
            before, after = decision.before, decision.after
            elected = {after.leader} - ({before.leader} if before else set())
            chosen = elected | set(after.isr) - set(before.isr if before else ())
            if chosen & gone:
                yield f"brokers {sorted(chosen & gone)} had refused connections: {decision}"


def log_start(world: World, step: Step) -> Iterator[str]:
    """A log starts no later than a client asked for, and not beyond its own high watermark. While
    a broker leads, the start never goes back.
    """
    for start in step.starts:
        if start.after > world.asked_starts.get(start.replica.partition, 0):
            yield f"nobody asked for {start}"
        if start.after > start.high_watermark:
            yield f"{start} is beyond the high watermark"
        if start.role == "Leader" and start.before is not None and start.after < start.before:
            yield f"{start} went back"


def low_watermark(world: World, step: Step) -> Iterator[str]:
    """DeleteRecords ok(low watermark) means that no live replica starts before that: none that
    was sure to be alive for the leader; and that it is not below what was asked for.
    """
    for deleted in step.deleted:
        if deleted.low_watermark < deleted.offset:
            yield f"{deleted} is less than was asked for"
        for broker, _ in sorted(deleted.members & world.members(deleted.partition)):
            highest = world.replica(broker, deleted.partition).highest_start
            if highest < deleted.low_watermark:
                yield f"{deleted}, but broker {broker} never started after {highest}"


_NOT_MADE = (
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.INVALID_REPLICATION_FACTOR,  # no broker is there that may host it, as Kafka answers
)


def topics_made(world: World, step: Step) -> Iterator[str]:
    """Who creates a topic is told the truth, or what makes it ask again; nothing is half made."""
    for answer in step.topic_answers:
        is_there = answer.name in world.decisions.topics
        if answer.code in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT):
            if not is_there:
                yield f"{answer}, and it is not there"
        elif answer.code is ErrorCode.TOPIC_ALREADY_EXISTS:
            if not answer.may_be_there:
                yield f"{answer}, and nobody else creates it"
        elif answer.code not in _NOT_MADE:
            yield f"{answer}, which no client asks again on"
        elif is_there and not answer.may_be_there:
            yield f"{answer}, and it is there"
    half = world.decisions.configured.keys() - world.decisions.topics
    if half:
        yield f"{sorted(half)} have a configuration and no assignment"


def committed_offsets(_world: World, step: Step) -> Iterator[str]:
    """Who asks the coordinator is told what its last commit or deletion that succeeded has left,
    or a later one of which it does not know how it ended; never again what was before.
    """
    for looked in step.looked:
        if looked.value not in looked.expected:
            yield f"{looked}"


EVERY_EVENT: Mapping[Invariant, Sequence[str]] = {
    one_value_per_offset: ("acked", "polled", "marks"),
    idempotence: ("committed", "refused"),
    log_matching: ("appended",),
    one_leader_per_epoch: ("appended", "marks"),
    isr_candidate_completeness: ("appended", "cuts", "starts", "committed", "decisions"),
    leader_completeness: ("decisions",),
    high_watermark: ("marks",),
    truncation: ("cuts",),
    isr_history: ("decisions",),
    one_controller: ("decisions",),
    min_isr: ("acked", "refused"),
    topics_made: FIELDS,
    groups: FIELDS,
    refused_is_gone: ("decisions",),
    log_start: ("starts",),
    low_watermark: ("deleted",),
    committed_offsets: ("looked",),
}


def durable(world: World, acked: Iterable[Acked]) -> Iterator[str]:
    """acks=all ok(v, o) means that at quiesce every ISR replica holds v at o, or starts later."""
    for ack in acked:
        state = world.decisions.partitions[ack.partition].state
        for broker in state.isr if state else ():
            replica = world.replica(broker, ack.partition)
            if ack.next <= replica.highest_start:
                continue
            held = replica.between(ack.first, ack.next)
            if [batch.value for batch in held] != [ack.send.value]:
                yield f"{ack} is not on broker {broker}, which holds {held} there"


def readable(world: World, polled: Iterable[Polled], skipped: Collection[Skipped]) -> Iterator[str]:
    """A consumer that read from the start has every committed batch once, in order, but for what
    clients asked to delete before it came there. Nobody reads coordinators' topics.
    """
    for skip in skipped:
        if skip.start > world.asked_starts.get(skip.partition, 0):
            yield f"nobody asked to delete all of {skip}"
    read: dict[TopicPartition, list[tuple[int, int]]] = {}
    for poll in polled:
        read.setdefault(poll.partition, []).append((poll.first, poll.value))
    for partition, committed in _written_by_clients(world):
        expected = [
            (batch.first, batch.value)
            for batch in committed.batches
            if not any(
                skip.partition == partition and skip.position < batch.next <= skip.start
                for skip in skipped
            )
        ]
        if read.get(partition, []) != expected:
            yield f"{partition}: read {read.get(partition)}, committed {expected}"


def _written_by_clients(world: World) -> Iterator[tuple[TopicPartition, Committed]]:
    """Coordinators write and read their topics themselves."""
    for partition, committed in world.committed.items():
        if not is_internal(partition.topic):
            yield partition, committed


def no_phantom(world: World, sent: Set[int]) -> Iterator[str]:
    """Every record below the high watermark was sent by somebody."""
    for partition, committed in _written_by_clients(world):
        for batch in committed.batches:
            if batch.value not in sent and not batch.is_control:
                yield f"{batch} in {partition} was sent by nobody"


def replayed(world: World) -> Iterator[str]:
    """What a coordinator serves is what its log says to whoever reads it from the start."""
    for machine in world.machines.values():
        coordinator = hosted_groups(machine)
        for term in coordinator.partitions if coordinator is not None else ():
            assert coordinator is not None
            loaded, progress = coordinator.new_state(), Progress(term.partition.replica.start)
            replica = term.partition.replica
            term.state.settle_doubts(replica.high_watermark)  # as the next request would
            while progress.next_offset < replica.high_watermark:
                mark = replica.high_watermark
                piece = replica.log.read(progress.next_offset, 1 << 20, up_to=mark)
                replay_batches(piece.read(), loaded, progress)
            for group in (*term.state, *loaded):
                sides = [side.get(group.group_id) for side in (term.state, loaded)]
                served, logged = (
                    {} if side is None else dict(side.offsets.items()) for side in sides
                )
                if served != logged:
                    yield f"broker {machine.broker_id} serves {served}, its log says {logged}"


def _changed(step: Step) -> set[TopicPartition]:
    changed = {replica.partition for replica, _ in step.appended}
    changed |= {cut.replica.partition for cut in step.cuts}
    changed |= {start.replica.partition for start in step.starts}
    changed |= {partition for partition, _ in step.committed}
    changed |= {d.partition for d in step.decisions if isinstance(d, StateWrite)}
    return changed
