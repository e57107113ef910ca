"""Who is asked: any broker, the controller, a partition's leader; and how often.

Leaders are remembered until something fails. Then they are asked for again, because the usual
reason for a failure is that leadership moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from logquake.client.clock import Clock, SystemClock
from logquake.client.connection import Connect, Connection, tcp_connect
from logquake.client.errors import ClientError, ConnectionLostError, NoLeaderError, check
from logquake.client.settings import Address, ClientSettings
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.sentinels import NO_CONTROLLER, NO_LEADER
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")


class Leader(NamedTuple):
    broker_id: int
    epoch: int


class Router:
    """Connections to a cluster. Closes them as a context manager."""

    def __init__(
        self,
        settings: ClientSettings,
        *,
        clock: Clock | None = None,
        connect: Connect = tcp_connect,
    ) -> None:
        self.settings = settings
        self.clock: Clock = clock or SystemClock()
        self._connect = connect
        self._bootstrap = settings.addresses()
        self._brokers: dict[int, Address] = {}
        self._connections: dict[Address, Connection] = {}
        self._leaders: dict[TopicPartition, Leader] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def with_retries(self, attempt: Callable[[], T], timeout_ms: int | None = None) -> T:
        """Make the attempt again after a retriable ClientError, for timeout_ms in all.

        The default is api_timeout_ms. Raises the last attempt's error.
        """
        wait_ms = self.settings.api_timeout_ms if timeout_ms is None else timeout_ms
        deadline_ms = self.clock.now_ms() + wait_ms
        while True:
            try:
                return attempt()
            except ClientError as error:
                left_ms = deadline_ms - self.clock.now_ms()
                if not error.retriable or left_ms <= self.settings.retry_backoff_ms:
                    raise
            self.forget_leaders()
            self.clock.sleep_ms(self.settings.retry_backoff_ms)

    def any_broker(self) -> Connection:
        """An open connection, or one to whichever broker answers first."""
        for connection in self._connections.values():
            if connection.is_open:
                return connection
        refused: list[str] = []
        for address in dict.fromkeys([*self._bootstrap, *self._brokers.values()]):
            try:
                return self._connection(address)
            except ClientError as error:
                if not error.retriable:
                    raise
                refused.append(str(error))
        raise ConnectionLostError("; ".join(refused) or "no bootstrap servers")

    def broker(self, broker_id: int) -> Connection:
        address = self._brokers.get(broker_id)
        if address is None:
            self.metadata([])
            address = self._brokers.get(broker_id)
        if address is None:
            raise ConnectionLostError(f"broker {broker_id} is not in the cluster now")
        return self._connection(address)

    def connect(self, broker_id: int) -> Connection:
        """One more connection to it, the caller's own: who waits there holds up nobody else."""
        address = self.broker(broker_id).address
        return Connection(address, self.settings, self.clock, self._connect)

    def controller(self) -> Connection:
        controller_id = self.metadata([]).controller_id
        if controller_id == NO_CONTROLLER:
            raise NoLeaderError("the cluster has no controller now")
        return self.broker(controller_id)

    def leader(self, topic: str, partition: int) -> Leader:
        """Raises NoLeaderError, or BrokerError for an unknown topic or partition."""
        place = TopicPartition(topic, partition)
        known = self._leaders.get(place)
        if known is None:
            self._learn_leaders(self.topic(topic))
            known = self._leaders.get(place)
        if known is None:
            raise NoLeaderError(f"{place} has no leader now")
        return known

    def known_leader(self, place: TopicPartition) -> int | None:
        """The broker that led it when leaders were last asked for."""
        known = self._leaders.get(place)
        return None if known is None else known.broker_id

    def topic(self, name: str) -> MetadataResponseTopic:
        """One topic as a broker sees it now. Raises BrokerError, for an unknown one too."""
        (found,) = self.metadata([name]).topics
        check(found.error_code, f"topic {name}")
        return found

    def partitions(self, topic: str) -> list[int]:
        """The topic's partitions, in order."""
        return sorted(partition.partition_index for partition in self.topic(topic).partitions)

    def metadata(self, topics: Sequence[str] | None) -> MetadataResponse:
        """The cluster and the topics named, all with None, as one broker sees them now."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        answer = self.any_broker().request(request, MetadataResponse)
        self._brokers = {b.node_id: Address(b.host, b.port) for b in answer.brokers}
        return answer

    def forget_leaders(self) -> None:
        self._leaders.clear()

    def _learn_leaders(self, topic: MetadataResponseTopic) -> None:
        for partition in topic.partitions:
            place = TopicPartition(topic.name or "", partition.partition_index)
            if partition.leader_id == NO_LEADER:
                self._leaders.pop(place, None)
            else:
                self._leaders[place] = Leader(partition.leader_id, partition.leader_epoch)

    def _connection(self, address: Address) -> Connection:
        known = self._connections.get(address)
        if known is not None and known.is_open:
            return known
        opened = Connection(address, self.settings, self.clock, self._connect)
        self._connections[address] = opened
        return opened
