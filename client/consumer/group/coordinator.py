"""The coordinator of a group, and requests to it (FindCoordinator; AbstractCoordinator).

It has its own connection, as in Kafka: a broker responds in order, so a Fetch or a JoinGroup that
it holds would delay everything behind it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from random import Random

from logquake.client.consumer.cluster import ClusterView
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupEventKind, GroupStatistics
from logquake.client.consumer.group.unsent import Done, Question, Unsent
from logquake.client.errors import (
    AuthenticationFailedError,
    ClientError,
    ConnectionLostError,
    MalformedResponseError,
    TimedOutError,
    UnsupportedVersionError,
    broker_error,
)
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.coordinator_lookups import COORDINATOR_MOVED, found_of, lookup
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.network_client import NetworkClient
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_LOG = logging.getLogger(__name__)

_CONNECTION_IDS_FROM = 0x7FFFFFFF  # downwards: no broker has such an id


@dataclass(frozen=True, slots=True)
class Unknown:
    not_before_ms: int = 0


@dataclass(frozen=True, slots=True)
class Asking:
    """FindCoordinator is in flight."""


@dataclass(frozen=True, slots=True)
class Found:
    """The node's id is that of the separate connection."""

    node: Node
    since_ms: int


class Coordinator:
    """Looks the coordinator up while somebody needs it, and sends requests in order. `poll`, which
    knows the time, delivers the responses. A request that cannot be sent in time, for instance
    while the coordinator throttles the connection, fails.
    """

    def __init__(
        self,
        settings: GroupSettings,
        network: NetworkClient,
        cluster: ClusterView,
        statistics: GroupStatistics,
        random: Random,
    ) -> None:
        self._settings = settings
        self._network = network
        self._cluster = cluster
        self._statistics = statistics
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._standing: Unknown | Asking | Found = Unknown()
        self._is_wanted = False
        self._attempts = 0  # since a coordinator last served
        self.failed_lookups = 0  # ever
        self.failure: ClientError | None = None  # permanent, and not raised yet
        self._unsent = Unsent(settings.request_timeout_ms)
        self._in_flight = 0
        self._answered: list[tuple[Done, Answer]] = []

    # What is known

    @property
    def is_known(self) -> bool:
        return isinstance(self._standing, Found)

    @property
    def found_ms(self) -> int:
        """When it was found."""
        return self._standing.since_ms if isinstance(self._standing, Found) else 0

    @property
    def is_idle(self) -> bool:
        """Whether all requests were answered, and all responses delivered."""
        return not self._unsent and not self._in_flight and not self._answered

    def find(self) -> bool:
        """Whether it is known. If not, the lookup begins."""
        self._is_wanted = self._is_wanted or not self.is_known
        return self.is_known

    def trouble(self) -> str:
        """`NetworkClient.trouble`, of all brokers."""
        return self._network.trouble()

    def check(self) -> None:
        """Raises ClientError, once, if the lookup has failed permanently."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    # Asking it

    def ask(self, question: Question) -> None:
        if self.is_known:
            self._unsent.add(question)
        else:
            self._tell(question.done, _unavailable("it is not known"))

    def heed(self, code: ErrorCode, why: str, now_ms: int) -> None:
        """Take in an error from the coordinator: `forget` it if it no longer coordinates."""
        if code in COORDINATOR_MOVED:
            self.forget(why, now_ms)

    def forget(self, why: str, now_ms: int) -> None:
        """It no longer coordinates, or is silent. Pending requests fail."""
        if not isinstance(self._standing, Found):
            return
        link = self._network.link(self._standing.node.id)
        self._lost(why, now_ms)
        if link is not None:
            self._network.links.end(link, ConnectionLostError(why), now_ms)

    # As a core

    def poll(self, now_ms: int) -> None:
        answered, self._answered = self._answered, []
        for done, answer in answered:
            done(answer, now_ms)
        self._look_after_connection(now_ms)
        if self._is_wanted and self.failure is None and isinstance(self._standing, Unknown):
            self._look_for_it(self._standing, now_ms)
        self._send_unsent(now_ms)
        for question in self._unsent.take_overdue(now_ms):
            self._tell(question.done, TimedOutError("the coordinator could not be asked in time"))

    def next_due_ms(self, now_ms: int) -> int | None:
        if self._answered:
            return now_ms
        if isinstance(self._standing, Found):
            return self._unsent.next_due_ms()
        if self._is_wanted and isinstance(self._standing, Unknown):
            due_ms = self._standing.not_before_ms
            return due_ms if due_ms > now_ms else None  # the network knows when a broker is ready
        return None

    # Within: its connection

    def _look_after_connection(self, now_ms: int) -> None:
        """The coordinator is lost if its connection ended and the back-off has not (Kafka's
        client.isUnavailable); without a back-off, reconnect.backoff.ms=0, if it ended at all.
        """
        if not isinstance(self._standing, Found):
            return
        node_id, since_ms = self._standing.node.id, self._standing.since_ms
        if self._network.is_ready(node_id, now_ms):
            self._attempts = 0
        elif self._network.connection_delay_ms(node_id, now_ms) or self._network.has_ended(
            node_id, since_ms
        ):
            failure = self._network.failure(node_id)
            if isinstance(failure, AuthenticationFailedError | UnsupportedVersionError):
                self.failure = failure
            self._lost(f"no connection to the coordinator: {failure}", now_ms)

    def _send_unsent(self, now_ms: int) -> None:
        self._unsent.keep(now_ms)
        while isinstance(self._standing, Found):
            node = self._standing.node
            if not self._network.ready_at(node, now_ms):
                return
            if (question := self._unsent.take_next()) is None:
                return
            self._send(node, question, now_ms)

    def _send(self, node: Node, question: Question, now_ms: int) -> None:
        try:
            version = self._network.version_of(node.id, question.request)
        except UnsupportedVersionError as error:
            self._tell(question.done, error)
            return
        if version < question.at_least:
            name = question.request.__name__
            why = f"{node} speaks {name} up to {version}, {question.at_least} is needed"
            self._tell(question.done, UnsupportedVersionError(why))
            return
        self._in_flight += 1
        done = partial(self._on_answer, question.done)
        message = question.build(version)
        request = ClientRequest(message, version, question.response, done, question.timeout_ms)
        self._network.send(node.id, request, now_ms)

    def _on_answer(self, done: Done, answer: Answer) -> None:
        self._in_flight -= 1
        self._tell(done, answer)

    def _tell(self, done: Done, answer: Answer) -> None:
        self._answered.append((done, answer))

    def _lost(self, why: str, now_ms: int) -> None:
        """If the coordinator has served requests, it is looked up again at once."""
        _LOG.info("group %s has lost its coordinator: %s", self._settings.group_id, why)
        self._statistics.tell(GroupEventKind.COORDINATOR_LOST, why)
        wait_ms = self._backoff.after(self._attempts - 1) if self._attempts else 0
        self._standing = Unknown(now_ms + wait_ms)
        for question in self._unsent.take_all():
            self._tell(question.done, _unavailable(why))

    # Within: the lookup

    def _look_for_it(self, unknown: Unknown, now_ms: int) -> None:
        if unknown.not_before_ms > now_ms:
            return
        node = self._network.least_loaded(now_ms)
        if node is None and (refusals := self._network.authentication_failures()):
            self._not_found(refusals[0], now_ms)  # no broker authenticates us
        if node is None or not self._network.ready(node.id, now_ms):
            return
        try:
            version = self._network.version_of(node.id, FindCoordinatorRequest)
        except UnsupportedVersionError as error:
            self._not_found(error, now_ms)
            return
        self._standing = Asking()
        done = partial(self._on_answer, self._looked_for)
        question = lookup(version, CoordinatorType.GROUP, [self._settings.group_id])
        request = ClientRequest(question, version, FindCoordinatorResponse, done)
        self._in_flight += 1
        self._network.send(node.id, request, now_ms)

    def _looked_for(self, answer: Answer, now_ms: int) -> None:
        if not isinstance(answer, FindCoordinatorResponse):
            error = answer if isinstance(answer, ClientError) else ConnectionLostError("no answer")
            self._not_found(error, now_ms)
            return
        try:
            found = found_of(answer, self._settings.group_id)
        except MalformedResponseError as error:
            self._not_found(error, now_ms)
            return
        if found.error_code != ErrorCode.NONE:
            why = f"coordinator of group {self._settings.group_id}: {found.error_message}"
            self._not_found(broker_error(found.error_code, why), now_ms)
        elif found.node_id < 0:
            self._not_found(MalformedResponseError(f"a coordinator {found.node_id}"), now_ms)
        else:
            node = Node(_CONNECTION_IDS_FROM - found.node_id, found.host, found.port)
            self._standing = Found(node, now_ms)
            _LOG.info("group %s is coordinated by %s", self._settings.group_id, node)
            self._is_wanted = False
            self._attempts += 1

    def _not_found(self, error: ClientError, now_ms: int) -> None:
        self.failed_lookups += 1
        self._standing = Unknown(now_ms + self._backoff.after(self._attempts))
        self._attempts += 1
        if error.retriable:
            self._cluster.request_update()
        else:
            self.failure = error


def _unavailable(why: str) -> ClientError:
    return broker_error(ErrorCode.COORDINATOR_NOT_AVAILABLE, why)
