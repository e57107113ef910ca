"""What metadata told, when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID

PORT = 9092
EPOCH = 0
NODES = {1: Node(1, "one", PORT, "a"), 2: Node(2, "two", PORT, "b")}


class TopicsTold:
    """Satisfies GroupCluster and Roster; it notes that somebody wants to know anew."""

    def __init__(self, note: Callable[[str], None] = lambda _: None) -> None:
        self.snapshot = Snapshot(NODES)
        self.updates = 0
        self.is_update_wanted = False
        self._note = note

    def tell(self, topics: Mapping[str, int], racks: str) -> None:
        """So many partitions; the replicas are brokers 1 and 2, or 1 alone."""
        replicas = {"both": (1, 2), "one": (1,)}[racks]
        self.snapshot = Snapshot(
            NODES,
            {
                name: TopicInfo(
                    ZERO_UUID,
                    ErrorCode.NONE,
                    {at: PartitionInfo(1, EPOCH, ErrorCode.NONE, replicas) for at in range(count)},
                )
                for name, count in topics.items()
            },
        )
        self.updates += 1
        self.is_update_wanted = False

    def request_update(self) -> None:
        self._note("metadata is wanted")
        self.is_update_wanted = True

    def request_update_for_new_topics(self) -> None:
        self._note("metadata of new topics is wanted")
        self.is_update_wanted = True

    def saw_epoch(self, _place: TopicPartition, epoch: int, /) -> None:
        if epoch > EPOCH:
            self._note(f"epoch {epoch} was seen")

    def update_delay_ms(self, _now_ms: int, /) -> int:
        return 0 if self.is_update_wanted else 300_000

    def nodes(self) -> Sequence[Node]:
        return tuple(NODES.values())

    def node(self, node_id: int) -> Node | None:
        return NODES.get(node_id)
