"""What it costs the controller to tell three brokers of everything, and each of them to read it."""

from __future__ import annotations

import time
from collections.abc import Iterable

from benchmarks.figures import Figures
from logquake.controller.channels.request_batch import ControllerBrokerRequestBatch, Outgoing
from logquake.controller.channels.request_content import Sender
from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.rules.partitions import Assignment, LeaderAndIsr, Leadership
from logquake.wire.listeners import ListenerName
from logquake.wire.schema import decode, encode
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint

_BROKERS = (1, 2, 3)


def told(partitions: int, per_topic: int) -> Figures:
    """CPU us a partition: all that is built for three brokers, and what one of them reads."""
    context = _context(partitions, per_topic)
    batch = ControllerBrokerRequestBatch(context)
    started = time.process_time()
    for partition, _ in context.led():
        batch.lead_or_follow(_BROKERS, partition)
    requests = batch.build(Sender(1, 1, ListenerName("PLAINTEXT")))
    bodies = [(each, encode(each.request, each.version)) for each in requests]
    built = time.process_time()
    _read((each, body) for each, body in bodies if each.broker_id == _BROKERS[0])
    read = time.process_time()
    return {
        "build us/partition": (built - started) / partitions * 1e6,
        "read us/partition": (read - built) / partitions * 1e6,
    }


def _read(requests: Iterable[tuple[Outgoing, bytes]]) -> None:
    for outgoing, body in requests:
        decode(type(outgoing.request), outgoing.version, memoryview(body))


def _context(partitions: int, per_topic: int) -> ControllerContext:
    context = ControllerContext()
    endpoint = ListenerEndpoint("127.0.0.1", 9092)
    context.brokers.update(
        (each, LiveBroker(BrokerRegistration(each, (endpoint,), 0), each)) for each in _BROKERS
    )
    for number in range(partitions):
        topic, index = divmod(number, per_topic)
        partition = TopicPartition(f"topic-{topic}", index)
        if index == 0:
            context.add_topic(partition.topic, topic.to_bytes(16, "big"))
        replicas = (*_BROKERS[number % 3 :], *_BROKERS[: number % 3])
        context.assign(partition, Assignment(replicas))
        state = LeaderAndIsr(replicas[0], 0, replicas, 0)
        context.take_in(partition, Leadership(state, 1))
    return context
