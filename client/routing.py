"""Who is asked: any broker, the controller, a partition's leader; and how often.

Leaders are remembered until something fails. Then they are asked for again, because the usual
reason for a failure is that leadership moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from logquake.client.clock import Clock, SystemClock
from logquake.client.connection import Connection, connect_to_one, open_connection
from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.sockets import SelectorSockets, Sockets
from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    NoLeaderError,
    RequestTimedOutError,
    check,
)
from logquake.client.network.effects import Node
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.settings import ClientSettings
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
        way_in: WayIn = PLAIN,
        clock: Clock | None = None,
        new_sockets: Callable[[], Sockets] | None = None,
    ) -> None:
        self.settings = settings
        self.clock: Clock = clock or SystemClock()
        self._way_in = way_in
        self._new_sockets = new_sockets or (lambda: SelectorSockets(self.clock, way_in))
        random = Random()
        self._metadata = Metadata(settings.metadata(), settings.addresses(), random)
        links = Links(
            settings.network(),
            random,
            new_login=way_in.new_login,
            on_ended=self._metadata.request_update,
        )
        self._network = NetworkClient(settings.network(), links, self._metadata, random)
        self._updates = MetadataUpdates(
            settings.metadata(), self._network, self._metadata, self._whom
        )
        self._driver = BlockingDriver(links, self._new_sockets(), self.clock)

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
        self._driver.close()

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
        serving = self._serving()
        if serving is not None:
            return self._open(serving)
        now_ms = self.clock.now_ms()
        refused: list[str] = []
        for node in sorted(self._nodes(), key=lambda each: self._delay_ms(each, now_ms)):
            if refused and self._delay_ms(node, now_ms):
                break  # whoever failed a moment ago is waited for if nobody else is left
            try:
                return self._open(node)
            except ClientError as error:
                if not error.retriable:
                    raise
                refused.append(str(error))
        raise ConnectionLostError("; ".join(refused) or "no bootstrap servers")

    def broker(self, broker_id: int) -> Connection:
        if self._metadata.node(broker_id) is None:
            self.metadata([])
        node = self._metadata.node(broker_id)
        if node is None:
            raise ConnectionLostError(f"broker {broker_id} is not in the cluster now")
        return self._open(node)

    def connect(self, broker_id: int) -> Connection:
        """One more connection to it, the caller's own: who waits there holds up nobody else."""
        address = self.broker(broker_id).address
        return connect_to_one(
            address, self.settings, self._way_in, clock=self.clock, sockets=self._new_sockets()
        )

    def controller(self) -> Connection:
        controller_id = self.metadata([]).controller_id
        if controller_id == NO_CONTROLLER:
            raise NoLeaderError("the cluster has no controller now")
        return self.broker(controller_id)

    def leader(self, topic: str, partition: int) -> Leader:
        """Raises NoLeaderError, or BrokerError for an unknown topic or partition."""
        place = TopicPartition(topic, partition)
        now_ms = self.clock.now_ms()
        self._metadata.use(topic, now_ms)
        known = self._known_leader(place)
        if known is None and not self._metadata.is_update_wanted:
            self._metadata.request_update()
        if self._metadata.is_update_wanted or not self._metadata.update_delay_ms(now_ms):
            self._refresh()
            known = self._known_leader(place)
        if known is None:
            self._check_topic(topic)
            raise NoLeaderError(f"{place} has no leader now")
        return known

    def known_leader(self, place: TopicPartition) -> int | None:
        """The broker that led it when leaders were last asked for."""
        known = self._known_leader(place)
        return known.broker_id if known else None

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
        broker = self.any_broker()
        answer = broker.request(request, MetadataResponse)
        version = broker.version_of(MetadataRequest)
        self._metadata.learn(answer, version, self.clock.now_ms())
        return answer

    def forget_leaders(self) -> None:
        """Ask again before the next is told."""
        self._metadata.request_update(after_progress=True)

    def _known_leader(self, place: TopicPartition) -> Leader | None:
        info = self._metadata.snapshot.partition(place)
        if info is None or info.leader == NO_LEADER:
            return None
        return Leader(info.leader, info.leader_epoch)

    def _check_topic(self, topic: str) -> None:
        info = self._metadata.snapshot.topics.get(topic)
        if info is not None:
            check(info.error, f"topic {topic}")

    def _refresh(self) -> None:
        """Wait for what the cluster tells now."""
        self.any_broker()
        updates, failures = self._metadata.updates, self._metadata.failures
        deadline_ms = self.clock.now_ms() + self.settings.request_timeout_ms

        def is_answered() -> bool:
            return self._metadata.updates > updates or self._metadata.failures > failures

        self._driver.run(self._updates, is_answered, deadline_ms)
        if self._metadata.updates == updates:
            raise self._updates.failure or RequestTimedOutError("no metadata in time")

    def _open(self, node: Node) -> Connection:
        return open_connection(self._network, self._driver, node, self.settings, self.clock)

    def _nodes(self) -> list[Node]:
        return list(dict.fromkeys([*self._metadata.bootstrap.values(), *self._metadata.nodes()]))

    def _serving(self) -> Node | None:
        return next((node for node in self._nodes() if self._serves(node)), None)

    def _serves(self, node: Node) -> bool:
        link = self._network.link(node.id)
        return link is not None and link.serving is not None

    def _whom(self, now_ms: int) -> Node | None:
        """To be asked for metadata: a new connection may be to a broker that is frozen."""
        return self._serving() or self._network.least_loaded(now_ms)

    def _delay_ms(self, node: Node, now_ms: int) -> int:
        return self._network.connection_delay_ms(node.id, now_ms)
