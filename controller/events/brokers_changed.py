"""Brokers come and go (KafkaController.processBrokerChange, processBrokerModification).

Children of /brokers/ids changed, or a registration did. A broker that restarted faster than its
session's end shows only by a newer epoch: it is taken as having left and come back. One whose
address refuses connections has left before its registration goes, and comes back when it accepts
them again; Kafka waits for the registration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.journal_events import (
    BROKER_DOWN,
    BROKER_ENDPOINTS_CHANGED,
    BROKER_UP,
)
from logquake.controller.rules.election import Elected
from logquake.controller.rules.partitions import PartitionStatus, Replica
from logquake.controller.state_machines import (
    partition_state_machine,
    replica_state_machine,
    topic_deletion_manager,
)
from logquake.controller.term import REFUSES, Term
from logquake.controller.zookeeper.watched_reads import read_broker, read_brokers
from logquake.zk.znodes.brokers import BrokerRegistration


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
        await _on_broker_startup(term, came, "it registered")
    if back:
        await _on_broker_failure(term, list(back), "it restarted: its epoch is a new one")
        await _on_broker_startup(term, back, "it registered again")
    if left:
        await _on_broker_failure(term, left, "its registration is gone")


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
    """It has left, and stays registered. Raises ControllerMoved, ZkFailure."""
    if term.refuse(refused):
        broker_id = refused.registration.broker_id
        replicas = term.context.replicas_on([broker_id])
        await on_replicas_become_offline(term, replicas, f"brokers [{broker_id}] left: {REFUSES}")


async def broker_accepts(term: Term, accepting: LiveBroker) -> None:
    """One that was refused had only closed its listener. It missed what was decided since, and is
    told all of it, as one that came. Raises ControllerMoved, ZkFailure.
    """
    broker_id = accepting.registration.broker_id
    known = term.context.refused.get(broker_id)
    if known is None or not term.is_same(known, accepting):
        return
    del term.context.refused[broker_id]
    term.channels.add(known)
    await _on_broker_startup(term, {broker_id: known}, "its address accepts connections again")
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


def _epoch_of(broker: LiveBroker | None) -> int | None:
    return None if broker is None else broker.epoch


async def _on_broker_startup(term: Term, came: dict[int, LiveBroker], why: str) -> None:
    context = term.context
    for broker_id, broker in came.items():
        term.note(BROKER_UP, f"broker-{broker_id}", why, after={"epoch": broker.epoch})
        context.replicas_on_offline_dirs.pop(broker_id, None)
    already_there = context.brokers.keys() - came.keys()
    context.brokers.update(came)
    await _introduce(term, already_there, came)
    replicas = context.replicas_on(came)
    await replica_state_machine.bring_online(term, replicas)
    await partition_state_machine.trigger_online_state_change(term)
    topics = {replica.partition.topic for replica in replicas}
    await topic_deletion_manager.resume_deletion_for_topics(
        term, topics, f"brokers {list(came)} are back"
    )


async def _introduce(term: Term, already_there: Collection[int], came: Collection[int]) -> None:
    """The others hear of the new brokers, the new ones of everything."""
    batch = term.batch()
    batch.inform(already_there)
    await term.send(batch)
    batch = term.batch()
    batch.inform(came, [partition for partition, _ in term.context.led()])
    await term.send(batch)


async def _on_broker_failure(term: Term, left: Collection[int], why: str) -> None:
    for broker_id in left:
        gone = term.context.forget(broker_id)
        term.note(BROKER_DOWN, f"broker-{broker_id}", why, before={"epoch": gone.epoch})
    replicas = term.context.replicas_on(left)
    await on_replicas_become_offline(term, replicas, f"brokers {list(left)} left: {why}")


async def on_replicas_become_offline(term: Term, replicas: Iterable[Replica], why: str) -> None:
    """They were lost with their broker or log directory (KafkaController.onReplicasBecomeOffline).

    Partitions that lost their leader get another one, then the replicas leave their ISRs; every
    partition that they were in gets a new leader epoch, also where they only followed.
    Raises ControllerMoved, ZkFailure.
    """
    lost = list(replicas)
    deleting = [each for each in lost if each.partition.topic in term.context.topics_to_delete]
    staying = [each for each in lost if each.partition.topic not in term.context.topics_to_delete]
    partition_state_machine.mark(
        term, term.context.without_online_leader(), PartitionStatus.OFFLINE
    )
    elections = await partition_state_machine.trigger_online_state_change(term)
    await replica_state_machine.take_offline(term, staying, why)
    topic_deletion_manager.fail_replica_deletion(term, deleting, why)
    await topic_deletion_manager.resume_deletions(term, {each.partition.topic for each in deleting})
    if not staying and not any(isinstance(each, Elected) for each in elections.values()):
        await term.inform_all()  # nothing else told the brokers who is left
