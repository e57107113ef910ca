"""Brokers come and go (KafkaController.processBrokerChange, processBrokerModification).

Children of /brokers/ids changed, or a registration did. A broker that restarted faster than its
session's end shows only by a newer epoch: it is taken as having left and come back. One whose
address refuses connections has left before its registration goes, and comes back when it accepts
them again; Kafka waits for the registration.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.events.replicas_offline import replicas_offline
from logquake.controller.journal_events import (
    BROKER_DOWN,
    BROKER_ENDPOINTS_CHANGED,
    BROKER_REFUSED,
    BROKER_UP,
)
from logquake.controller.state_machines import (
    partition_state_machine,
    replica_state_machine,
    topic_deletion_manager,
)
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import read_broker, read_brokers
from logquake.seams.journal import EventKind
from logquake.zk.znodes.brokers import BrokerRegistration

REFUSES = "its address refuses connections"


async def brokers_changed(term: Term) -> None:
    """Raises ControllerMoved, ZkFailure."""
    known = term.context.brokers
    now = await read_brokers({**term.context.refused, **known}, term.set_aside)
    await _forget_refused(term, now)
    registered = known.keys() | term.context.refused.keys()
    came = {each: now[each] for each in sorted(now.keys() - registered)}
    left = sorted(known.keys() - now.keys())
    back = {
        each: now[each]
        for each in sorted(now.keys() & known.keys())
        if now[each].epoch > known[each].epoch
    }
    for broker_id in left:
        term.dismiss(broker_id)
    for broker in (*came.values(), *back.values()):
        term.admit(broker)
    if came:
        await _brokers_came(term, came, "it registered")
    if back:
        await _brokers_left(term, list(back), "it restarted: its epoch is a new one")
        await _brokers_came(term, back, "it registered again")
    if left:
        await _brokers_left(term, left, "its registration is gone")


async def broker_modified(term: Term, broker_id: int) -> None:
    """A registration was written again: brokers hear of new endpoints. Raises ZkFailure."""
    known = term.context.brokers.get(broker_id)
    was_set_aside = BrokerRegistration.path(broker_id) in term.set_aside
    now = await read_broker(broker_id, term.set_aside)
    if was_set_aside and known is None:
        await brokers_changed(term)
        return
    if now is not None and now.epoch == _epoch_of(term.context.refused.get(broker_id)):
        term.context.refused[broker_id] = now
        term.reachability.watch(now, refused=True)
        return
    if known is None or now is None or now.epoch != known.epoch:
        return  # the change of the children tells it
    term.reachability.watch(now)
    if now.registration.endpoints == known.registration.endpoints:
        return
    term.context.brokers[broker_id] = now
    term.note(
        BROKER_ENDPOINTS_CHANGED,
        f"broker-{broker_id}",
        "it wrote its registration again",
        [str(each) for each in known.registration.endpoints],
        [str(each) for each in now.registration.endpoints],
    )
    await term.inform_all()


async def broker_refused(term: Term, refused: LiveBroker) -> None:
    """Nobody listens at its address: it has left, whatever its session says.

    It stays registered, so it is remembered. A newer registration is not the one that was
    refused, nor is another address. Raises ControllerMoved, ZkFailure.
    """
    broker_id = refused.registration.broker_id
    known = term.context.brokers.get(broker_id)
    if known is None or not _is_same(term, known, refused):
        return
    term.channels.remove(broker_id)
    term.context.refused[broker_id] = known
    await _brokers_left(term, [broker_id], REFUSES, what=BROKER_REFUSED)


async def broker_accepts(term: Term, accepting: LiveBroker) -> None:
    """One that was refused had only closed its listener. It missed what was decided since, and is
    told all of it, as one that came. Raises ControllerMoved, ZkFailure.
    """
    broker_id = accepting.registration.broker_id
    known = term.context.refused.get(broker_id)
    if known is None or not _is_same(term, known, accepting):
        return
    del term.context.refused[broker_id]
    term.channels.add(known)
    await _brokers_came(term, {broker_id: known}, "its address accepts connections again")
    await _tell_of_deletions(term, broker_id)


async def _tell_of_deletions(term: Term, broker_id: int) -> None:
    """It kept its metadata, and would show topics to clients that were deleted without it."""
    context = term.context
    gone = context.unheard_deletions.pop(broker_id, set())
    going = [each for topic in context.deletions_started for each in context.partitions_of(topic)]
    if gone or going:
        batch = term.batch()
        batch.inform_of_end(broker_id, gone - context.leaderships.keys())
        batch.inform([broker_id], going)
        await term.send(batch)


async def _forget_refused(term: Term, now: Mapping[int, LiveBroker]) -> None:
    """Those whose registration is gone, or another one: they have left before, and are listed no
    more.
    """
    gone = term.context.refused.keys() - now.keys()
    for broker_id, refused in list(term.context.refused.items()):
        if _epoch_of(now.get(broker_id)) != refused.epoch:
            del term.context.refused[broker_id]
            term.context.unheard_deletions.pop(broker_id, None)
            term.dismiss(broker_id)
            term.note(
                BROKER_DOWN,
                f"broker-{broker_id}",
                "its registration is gone; its address had refused before",
                before={"epoch": refused.epoch},
            )
    if gone:
        await term.inform_all()


def _is_same(term: Term, one: LiveBroker, other: LiveBroker) -> bool:
    """The same registration of a broker, and the same address in it."""
    listener = term.settings.inter_broker_listener_name
    return one.epoch == other.epoch and one.endpoint(listener) == other.endpoint(listener)


def _epoch_of(broker: LiveBroker | None) -> int | None:
    return None if broker is None else broker.epoch


async def _brokers_came(term: Term, came: dict[int, LiveBroker], why: str) -> None:
    context = term.context
    for broker_id, broker in came.items():
        term.note(BROKER_UP, f"broker-{broker_id}", why, after={"epoch": broker.epoch})
        context.failed_replicas.pop(broker_id, None)
    already_there = context.brokers.keys() - came.keys()
    context.brokers.update(came)
    await _introduce(term, already_there, came)
    replicas = context.replicas_on(came)
    await replica_state_machine.bring_online(term, replicas)
    await partition_state_machine.bring_leaderless_online(term)
    topics = {replica.partition.topic for replica in replicas}
    await topic_deletion_manager.resume(term, topics, f"brokers {list(came)} are back")


async def _introduce(term: Term, already_there: Collection[int], came: Collection[int]) -> None:
    """The others hear of the new brokers, the new ones of everything."""
    batch = term.batch()
    batch.inform(already_there)
    await term.send(batch)
    batch = term.batch()
    batch.inform(came, [partition for partition, _ in term.context.led()])
    await term.send(batch)


async def _brokers_left(
    term: Term, left: Collection[int], why: str, *, what: EventKind = BROKER_DOWN
) -> None:
    context = term.context
    for broker_id in left:
        gone = context.brokers.pop(broker_id)
        term.note(what, f"broker-{broker_id}", why, before={"epoch": gone.epoch})
        context.failed_replicas.pop(broker_id, None)
        context.leaving.discard(broker_id)
    reason = f"brokers {list(left)} left: {why}"
    await replicas_offline(term, context.replicas_on(left), reason)
