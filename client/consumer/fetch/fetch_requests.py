"""Sends the fetcher's requests, and hands it the answers (Kafka's Fetcher.sendFetches).

The fetcher backs off for retry.backoff.ms from a broker whose response was useless: the next would
come as soon and be as useless, again and again even if nobody polls. It also backs off from a
broker that has no room for the request, and from one that does not wait for records as requested;
but not from one that evicted the session to make room for another, since a full request repairs
that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from logquake.client.consumer.failures import Failures
from logquake.client.consumer.fetch.fetching import Fetcher
from logquake.client.consumer.fetch.sessions import SessionRequest
from logquake.client.consumer.settings import FetchSettings
from logquake.client.errors import ClientError
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.network_client import NetworkClient
from logquake.wire.messages.fetch import FetchRequest, FetchResponse


class FetchRequests:
    def __init__(
        self,
        settings: FetchSettings,
        fetcher: Fetcher,
        network: NetworkClient,
        failures: Failures,
    ) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._network = network
        self._failures = failures
        self._is_closing = False
        self._answered_since: list[tuple[int, int]] = []  # when sent, and the throttle time
        self._told_to_close: set[int] = set()
        self._useless: set[int] = set()  # responses since the last poll
        self._not_before_ms: dict[int, int] = {}
        self._shortest_wait_ms = min(settings.max_wait_ms, settings.retry_backoff_ms)

    def poll(self, now_ms: int) -> None:
        """Send the requests that are due."""
        for sent_ms, throttle_ms in self._answered_since:
            self._fetcher.statistics.answered(now_ms - sent_ms, throttle_ms, now_ms)
        self._answered_since.clear()
        if self._is_closing:
            return
        self._leave_alone(now_ms)
        may_ask = partial(self._may_ask, now_ms=now_ms)
        for node_id, request in self._fetcher.requests(now_ms, may_ask).items():
            self._ask(node_id, request, partial(self._answered, now_ms, request), now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        """When the next back-off, of a broker or a partition, ends."""
        if self._useless and not self._is_closing:
            return now_ms
        later = [at_ms for at_ms in self._not_before_ms.values() if at_ms > now_ms]
        if (again_ms := self._fetcher.next_due_ms(now_ms)) is not None:
            later.append(again_ms)
        return min(later, default=None)

    def close(self, now_ms: int) -> None:
        """Stop fetching, and close the sessions with connected brokers."""
        self._is_closing = True
        for node_id, request in self._fetcher.closing_requests().items():
            if self._network.is_ready(node_id, now_ms):
                self._told_to_close.add(node_id)
                self._ask(node_id, request, self._closed, now_ms)

    @property
    def is_closed(self) -> bool:
        """Whether all requests that close sessions were answered."""
        return self._is_closing and not self._told_to_close

    def _leave_alone(self, now_ms: int) -> None:
        again_ms = now_ms + self._settings.retry_backoff_ms
        self._not_before_ms |= dict.fromkeys(self._useless, again_ms)
        self._useless.clear()

    def _may_ask(self, node_id: int, now_ms: int) -> bool:
        """Begins a new connection if the old one was lost."""
        is_ready = self._network.ready(node_id, now_ms)
        return is_ready and self._not_before_ms.get(node_id, now_ms) <= now_ms

    def _ask(
        self,
        node_id: int,
        request: SessionRequest,
        done: Callable[[int, int, Answer], None],
        now_ms: int,
    ) -> None:
        try:
            version = self._network.version_of(node_id, FetchRequest, request.at_most)
        except ClientError as error:
            done(node_id, 0, error)
            return
        message = request.message(self._settings, version)
        told = partial(done, node_id, version)
        partitions = sum(len(topic.partitions) for topic in message.topics)
        bound = self._settings.max_answer_bytes(version, partitions)
        asked = ClientRequest(message, version, FetchResponse, told, max_response_bytes=bound)
        self._network.send(node_id, asked, now_ms)

    def _answered(
        self, sent_ms: int, request: SessionRequest, node_id: int, version: int, answer: Answer
    ) -> None:
        if isinstance(answer, FetchResponse):
            self._answered_since.append((sent_ms, answer.throttle_time_ms))
            if not self._fetcher.answered(node_id, answer, version):
                if not request.session_is_forgotten(answer):
                    self._useless.add(node_id)
            elif not answer.responses:
                self._not_before_ms[node_id] = sent_ms + self._shortest_wait_ms
        else:
            self._failures.note(answer)
            self._fetcher.failed(node_id)
            if not (isinstance(answer, ClientError) and answer.retriable):
                self._useless.add(node_id)  # reconnecting takes time anyway

    def _closed(self, node_id: int, _version: int, _answer: Answer) -> None:
        """The outcome does not matter."""
        self._told_to_close.discard(node_id)
