"""Which broker to ask: a coordinator that is known and reachable, or the least loaded one."""

from __future__ import annotations

from collections.abc import Iterable

from logquake.client.errors import AuthenticationFailedError
from logquake.client.network.metadata import Metadata
from logquake.client.network.network_client import NetworkClient
from logquake.client.producer.transactions.course import Course
from logquake.client.producer.transactions.question import CoordinatorKey


class Whom:
    """Failed authentication with a broker breaks the producer: waiting would not help."""

    def __init__(self, network: NetworkClient, metadata: Metadata, course: Course) -> None:
        self._network = network
        self._metadata = metadata
        self._course = course
        self._coordinators: dict[CoordinatorKey, int] = {}

    def is_known(self, key: CoordinatorKey) -> bool:
        return key in self._coordinators

    def found(self, key: CoordinatorKey, node_id: int) -> None:
        self._coordinators[key] = node_id

    def forget(self, key: CoordinatorKey | None) -> None:
        """The coordinator has moved, or cannot be reached."""
        if key is not None:
            self._coordinators.pop(key, None)

    def anybody(self, now_ms: int) -> int | None:
        """Any broker that is ready now."""
        node = self._network.least_loaded(now_ms)
        if node is None:
            self._check_let_in(each.id for each in self._metadata.nodes())
        elif self._network.ready(node.id, now_ms):
            return node.id
        return None

    def coordinator(self, key: CoordinatorKey, now_ms: int) -> int | None:
        """The coordinator, if it is ready. If unreachable it is forgotten: it may have moved."""
        node_id = self._coordinators[key]
        if self._network.ready(node_id, now_ms):
            return node_id
        if self._network.link(node_id) is None:
            self._check_let_in([node_id])
            if self._metadata.node(node_id) is None:
                self._metadata.request_update()
            self.forget(key)
        return None

    def _check_let_in(self, node_ids: Iterable[int]) -> None:
        for node_id in node_ids:
            failure = self._network.failure(node_id)
            if isinstance(failure, AuthenticationFailedError):
                self._course.break_down(failure)
