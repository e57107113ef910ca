"""What must hold of transactions; tests/sim/invariants.py tells how the others are judged."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.node.coordinators.transactions.log_records import read_value
from logquake.node.coordinators.transactions.metadata import Producer, TransactionMetadata
from logquake.node.coordinators.transactions.states import Prepared
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.storage.log.log import Log
from logquake.wire.records import iterate_batches, iterate_records
from tests.sim.step import Step
from tests.sim.transactions.ledger import Ledger
from tests.sim.transactions.readers import CommittedReader
from tests.sim.world import World, hosted

_ALL_BYTES = 1 << 24


def decided_first(world: World, step: Step) -> Iterator[str]:
    """A leader has a transaction's marker only once the decision is committed in the coordinator's
    log.
    """
    for replica, batch in step.appended:
        leaders = [machine.broker_id for machine, _ in world.leaders(replica.partition)]
        if batch.is_control and replica.broker in leaders:
            decided = _decided(world)
            if decided and Producer(batch.producer_id, batch.producer_epoch) not in decided:
                yield f"{batch} in {replica.partition}, but decided are {decided}"


def _decided(world: World) -> set[Producer]:
    """Of whom a decision is committed; nobody where too few brokers run to know."""
    found: set[Producer] = set()
    for partition, committed in world.committed.items():
        if partition.topic != TRANSACTION_STATE_TOPIC:
            continue
        logs = [
            each.replica.log
            for machine in world.machines.values()
            for each in hosted(machine)
            if (each.topic, each.index) == partition
            and world.replica(machine.broker_id, partition).holds_prefix(
                committed.end, committed.prefix
            )
        ]
        if not logs:
            return set()
        found |= {
            each.producer
            for each in _read(logs[0], committed.end)
            if isinstance(each.state, Prepared)
        }
    return found


def _read(log: Log, end: int) -> Iterator[TransactionMetadata]:
    """What a coordinator's log says up to there, segment by segment."""
    offset = log.start_offset
    while offset < end:
        view = memoryview(log.read(offset, _ALL_BYTES, up_to=end).read())
        for position, header in iterate_batches(view):
            for record in iterate_records(view, position, header, _ALL_BYTES):
                yield read_value(record.value or b"")
            offset = header.next_offset


def whole(ledger: Ledger) -> Iterator[str]:
    """All of a transaction or nothing of it: where one of its partitions has a commit marker, all
    that was acked has, and so if its producer was told that it is committed.
    """
    for attempt in ledger.attempts:
        if attempt.told is True or True in attempt.ends.values():
            for value in sorted(attempt.acked):
                if not attempt.ends.get(attempt.values[value]):
                    yield f"{attempt}: {value} in {attempt.values[value]} is not committed"


def only_committed(world: World, ledger: Ledger, reader: CommittedReader) -> Iterator[str]:
    """A reader of committed records has every batch of a committed transaction and every batch of
    none, in order; of an aborted one it has nothing.
    """
    expected = [
        batch.value
        for batch in world.committed[reader.partition].batches
        if not batch.is_control
        and (batch.value not in ledger.by_value or ledger.is_decided(reader.partition, batch.value))
    ]
    if reader.values != expected:
        odd = sorted(set(reader.values) ^ set(expected))
        whose = [str(ledger.by_value.get(value)) for value in odd]
        yield f"{reader.name} differs in {odd}: {whose}"
