"""One term of office: all that a controller has between its election and its end.

A term owns what it knows (context), what it writes with (zk), what it sends through (channels) and
what it hears of brokers by (reachability).
When it ends, all of it is dropped at once; the next term begins from ZooKeeper.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from logquake.controller.channels.channel_manager import ControllerChannelManager
from logquake.controller.channels.reachability import Reachability
from logquake.controller.channels.request_batch import ControllerBrokerRequestBatch
from logquake.controller.channels.request_content import Sender
from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.journal_events import BROKER_REFUSED
from logquake.controller.rules.partitions import LeaderAndIsr, Leadership
from logquake.controller.settings import ControllerSettings
from logquake.controller.zookeeper.guarded_zk import GuardedZk
from logquake.controller.zookeeper.set_aside import SetAside
from logquake.seams.journal import Event, EventKind, Journal
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.procedure import Procedure, pause
from logquake.zk.znodes.topics import PartitionState

T = TypeVar("T")

DECIDED_AT_A_TIME = 250
"""Partitions in a slice of a decision: each is some 60 us of work, from the rule to the journal."""

REFUSES = "its address refuses connections"


@dataclass(slots=True)
class Term:
    controller_id: int
    settings: ControllerSettings
    zk: GuardedZk
    set_aside: SetAside
    context: ControllerContext
    channels: ControllerChannelManager
    reachability: Reachability
    journal: Journal
    random: Random
    _give_way: Callable[[Term], Procedure[None]]
    took_office: bool = False
    """The whole state is read in and every replica was told what it is."""
    elections: int = 0
    unclean_elections: int = 0
    _is_over: bool = False

    async def give_way(self) -> None:
        """Between two pieces of long work: urgent events that wait are carried out.

        What was known before may have changed. Raises ControllerMoved if the term has ended.
        """
        await self._give_way(self)

    async def pieces(self, items: Sequence[T], size: int) -> AsyncIterator[Sequence[T]]:
        """All items in order, giving way between one piece and the next."""
        for start in range(0, len(items), size):
            if start:
                await self.give_way()
            yield items[start : start + size]

    def admit(self, broker: LiveBroker) -> None:
        """A broker that came, or came back: requests go to it, and its listener is watched.

        Not once the term is over: what was in progress then may come this far, and nobody would
        ever let go of the connections.
        """
        if self._is_over:
            return
        self.channels.add(broker)
        self.reachability.watch(broker)

    def dismiss(self, broker_id: int) -> None:
        """Its registration is gone."""
        self.channels.remove(broker_id)
        self.reachability.forget(broker_id)

    def refuse(self, refused: LiveBroker) -> bool:
        """Nobody listens at its address: it has left, whatever its session says.

        False if it is another broker by now: neither a newer registration nor another address is
        the one that refused.
        """
        broker_id = refused.registration.broker_id
        known = self.context.brokers.get(broker_id)
        if known is None or not self.is_same(known, refused):
            return False
        self.channels.remove(broker_id)
        self.context.refuse(broker_id)
        self.note(BROKER_REFUSED, f"broker-{broker_id}", REFUSES, before={"epoch": known.epoch})
        return True

    def is_same(self, one: LiveBroker, other: LiveBroker) -> bool:
        """The same registration of a broker, and the same address in it."""
        listener = self.settings.inter_broker_listener_name
        return one.epoch == other.epoch and one.endpoint(listener) == other.endpoint(listener)

    def close(self) -> None:
        self._is_over = True
        self.channels.close()
        self.reachability.close()

    def is_set_aside(self, partition: TopicPartition) -> bool:
        """Its state makes no sense: it cannot be decided about."""
        set_aside = self.set_aside
        return not set_aside.is_empty and PartitionState.path(*partition) in set_aside

    async def known_states(
        self, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, Leadership]:
        """States as a decision begins with them: what the context has, and else ZooKeeper.

        Only controllers write states, and the one in office takes in what it writes; so of
        thousands of partitions none has to be read before its next state is written over the
        version that it had. Who wrote there all the same shows by that version: then the state is
        read, and decided upon again. So it is before a partition is left without a leader, as
        nothing is written then. (Kafka reads each state first, and writes over the version too.)

        Without those that have no state, and those whose state is set aside.
        Raises ControllerMoved, ZkFailure.
        """
        leaderships = self.context.leaderships
        known = {
            each: leaderships[each]
            for each in partitions
            if each in leaderships and not self.is_set_aside(each)
        }
        unknown = [each for each in partitions if each not in known]
        return {**known, **await self.zk.read_states(unknown)} if unknown else known

    def batch(self) -> ControllerBrokerRequestBatch:
        return ControllerBrokerRequestBatch(self.context)

    async def send(self, batch: ControllerBrokerRequestBatch) -> None:
        """Each request by itself; the loop has its turn between large ones."""
        sender = Sender(self.controller_id, self.zk.epoch, self.settings.inter_broker_listener_name)
        for outgoing in batch.build(sender):
            self.channels.send(outgoing)
            if batch.is_large:
                await pause()

    async def send_if_large(
        self, batch: ControllerBrokerRequestBatch
    ) -> ControllerBrokerRequestBatch:
        """Answers the batch to go on with. Of thousands of partitions the first take up their roles
        while the next ones are decided upon, and no request holds a broker up for long.
        """
        if not batch.is_large:
            return batch
        await self.send(batch)
        return self.batch()

    async def inform_all(self, partitions: Iterable[TopicPartition] = ()) -> None:
        """UpdateMetadata to every broker."""
        batch = self.batch()
        batch.inform(self.context.brokers, partitions)
        await self.send(batch)

    def note(
        self, what: EventKind, subject: str, why: str, before: Any = None, after: Any = None
    ) -> None:
        self.journal.record(Event(what, subject, why, before, after, self.zk.epoch))

    def note_change(
        self,
        what: EventKind,
        partition: TopicPartition,
        why: str,
        before: LeaderAndIsr | None,
        after: LeaderAndIsr | None,
    ) -> None:
        """An event about a partition's state."""
        self.note(
            what,
            str(partition),
            why,
            None if before is None else before.as_json(),
            None if after is None else after.as_json(),
        )


TermProcedure = Callable[[Term], Procedure[None]]
