"""Requests the end of a partition once, without a waiting caller (KafkaConsumer.currentLag)."""

from __future__ import annotations

from logquake.client.consumer.cluster import ClusterView, leader_of
from logquake.client.consumer.positions.offset_search import OffsetSearch
from logquake.client.errors import ClientError
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition


class EndLook:
    """Satisfies `ProgramQuestion`. It gives up if there is no leader, or the leader fails or
    refuses: the program will ask again, and brokers get no needless requests until then.
    """

    def __init__(self, place: TopicPartition, search: OffsetSearch, cluster: ClusterView) -> None:
        self._place = place
        self._search = search
        self._cluster = cluster
        self._is_given_up = False
        self.failure: ClientError | None = None

    @property
    def is_done(self) -> bool:
        return self._is_given_up or self._search.is_done

    def poll(self, now_ms: int) -> None:
        self._search.poll(now_ms)
        leader = leader_of(self._cluster.snapshot, self._place)
        would_ask_again = self._search.next_due_ms(now_ms) is not None
        self._is_given_up = leader.node_id == NO_LEADER or would_ask_again

    def next_due_ms(self, now_ms: int) -> int | None:
        return self._search.next_due_ms(now_ms)
