"""What is sent to a broker next (RecordAccumulator.drain)."""

from __future__ import annotations

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.numbering import Numbering
from logquake.client.producer.queues import Queue, Queues
from logquake.wire.topic_partition import TopicPartition


class Drain:
    """Serves each broker's partitions round robin: a request begins where the last one ended."""

    def __init__(self, queues: Queues, numbering: Numbering) -> None:
        self._queues = queues
        self._numbering = numbering
        self._next: dict[int, int] = {}  # by node, an index into the partitions that it leads

    def drain(
        self, node_id: int, leaders: Leaders, max_bytes: int, now_ms: int
    ) -> list[ProducerBatch]:
        """At most ``max_bytes`` in total, except that the first batch may have any size."""
        places = leaders.led_by.get(node_id, [])
        drained: list[ProducerBatch] = []
        size = 0
        start = self._next.get(node_id, 0)
        for turn in range(len(places)):
            index = (start + turn) % len(places)
            self._next[node_id] = index
            queue = self._sendable(places[index], leaders, now_ms)
            if queue is None or self._numbering.holds_back(queue[0]):
                continue  # Kafka's stops here, so that the broker's other partitions wait too
            first = queue[0]
            if drained and size + first.estimated_bytes > max_bytes:
                break
            queue.popleft()
            self._numbering.number(first)
            size += len(first.build())
            drained.append(first)
        return drained

    def _sendable(self, place: TopicPartition, leaders: Leaders, now_ms: int) -> Queue | None:
        queue = self._queues.find(place)
        if not queue or place in self._queues.muted:
            return None
        queue[0].saw_leader(leaders.epoch(place))
        return None if queue[0].backoff_ms(now_ms) else queue
