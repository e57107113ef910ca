"""What a producer promises to a program. Each function yields what is wrong; nothing if it holds.

They are told of one event as `tests/sim/invariants.py` has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from logquake.client.errors import DeliveryError
from logquake.client.producer.delivery import RecordMetadata
from logquake.wire.sentinels import INTERNAL_TOPICS, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition
from tests.sim.invariants import Invariant
from tests.sim.programs.records import Handed, Told
from tests.sim.step import Step
from tests.sim.world import Committed, World

SLACK_MS = 5  # of who looks at the clock in whole milliseconds


def told_in_order(world: World, step: Step) -> Iterator[str]:
    """A record's outcome is told once, and to each partition in the order of the sends."""
    for told in step.told:
        expected = world.records.next_untold(told.handed)
        if expected != told.handed:
            yield f"{told} was told, {expected} was to be"


def told_in_time(_world: World, step: Step) -> Iterator[str]:
    """A record's outcome is told before delivery.timeout.ms is over."""
    for told in step.told:
        if told.at_ms > told.handed.overdue_ms + SLACK_MS:
            yield f"{told} is late"


def told_truly(world: World, step: Step) -> Iterator[str]:
    """What is told to be written is committed where it is said to be."""
    for told in step.told:
        if isinstance(told.outcome, RecordMetadata):
            offset = told.outcome.offset
            if offset != UNKNOWN_OFFSET and _value_at(world, told, offset) != told.handed.value:
                yield f"{told} is not there"


def _value_at(world: World, told: Told, offset: int) -> bytes | None:
    committed = world.committed.get(told.handed.place, Committed())
    for batch in reversed(committed.batches):
        if batch.first <= offset < batch.next:
            contents = world.records.contents.get(batch.value, ())
            return contents[offset - batch.first] if contents else None
    return None


def sent_in_time(world: World, step: Step) -> Iterator[str]:
    """Nothing is sent whose delivery.timeout.ms is over."""
    for left in step.left:
        for handed in world.records.of(left.values):
            if left.at_ms > handed.overdue_ms:
                yield f"{handed} was sent to broker {left.broker} at {left.at_ms}"


def one_batch_a_sequence(world: World, step: Step) -> Iterator[str]:
    """What goes by a sequence of a producer's epoch goes by it for ever, and nothing else does."""
    for left in step.left:
        known = world.records.by_sequence.setdefault(left.sequence, left.values)
        if known != left.values:
            yield f"{left} goes by what {known} went by"


def renewed_for_a_reason(world: World, step: Step) -> Iterator[str]:
    """A record is sent in its producer's next epoch only where one was given up, or where a broker
    has said that one is missing: what was sent in two epochs may be written twice.
    """
    for left in step.left:
        _, *identity, _ = left.sequence
        who = (left.producer, left.sequence.place)
        for value in left.values:
            epochs = world.records.epochs[value]
            epochs.add((identity[0], identity[1]))
            is_sent_once = value in world.records.by_value  # by the program
            if is_sent_once and len(epochs) > 1 and who not in world.records.doubted:
                yield f"{left} left before as of {epochs}"


PROMISES: Mapping[Invariant, Sequence[str]] = {
    told_in_order: ("told",),
    told_in_time: ("told",),
    told_truly: ("told",),
    sent_in_time: ("left",),
    one_batch_a_sequence: ("left",),
    renewed_for_a_reason: ("left",),
}


def written_once(world: World) -> Iterator[str]:
    """At the end each record that was told to be written is there, each that was told not to be is
    nowhere; none is there twice, and those of a producer are in the order of its sends, but for
    those that were sent in two of its epochs: a leader may have forgotten that it has them, as
    Kafka's do, whose snapshots have each producer's last batch alone. So of one that had been
    deleted before it was sent again.
    """
    found: Counter[bytes] = Counter()
    once = _to_be_there_once(world)
    for place, committed in world.committed.items():
        if place.topic in INTERNAL_TOPICS:  # a batch there may have the CRC of one of a program's
            continue
        values = list(_values_of(world, committed))
        found.update(values)
        yield from _out_of_order(world, place, [value for value in values if value in once])
    for told in world.records.told:
        value = told.handed.value
        yield from _miscounted(told, found[value], is_once=value in once)


def _to_be_there_once(world: World) -> set[bytes]:
    contents = world.records.contents
    again = {value for batch in world.written_again for value in contents.get(batch, ())}
    return {value for value, epochs in world.records.epochs.items() if len(epochs) == 1} - again


def _values_of(world: World, committed: Committed) -> Iterator[bytes]:
    for batch in committed.batches:
        yield from world.records.contents.get(batch.value, ())


def _out_of_order(world: World, place: TopicPartition, values: Sequence[bytes]) -> Iterator[str]:
    last: dict[str, Handed] = {}
    for handed in world.records.of(values):
        before = last.get(handed.producer)
        if before is not None and before.number >= handed.number:
            yield f"{handed} follows {before} in {place}"
        last[handed.producer] = handed


def _miscounted(told: Told, count: int, *, is_once: bool) -> Iterator[str]:
    if isinstance(told.outcome, RecordMetadata) and not count:
        yield f"{told} is not there"
    elif count and not (isinstance(told.outcome, RecordMetadata) or _may_be_written(told)):
        yield f"{told} is there"
    elif count > 1 and is_once:
        yield f"{told} is there {count} times"


def _may_be_written(told: Told) -> bool:
    return isinstance(told.outcome, DeliveryError) and told.outcome.may_be_written
