"""All requests of an admin client, and their deadlines (KafkaAdminClient.AdminClientRunnable).

As in Kafka, a broker gets one request at a time. A retriable failure is retried after a growing
back-off, until the call's deadline, and at most ``retries`` times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from logquake.client.admin.asking.asks import (
    Asks,
    Broker,
    Controller,
    Loss,
    Reply,
    Terms,
    Whom,
)
from logquake.client.admin.asking.enquiry import Call, Enquiry, InFlight, Waiting
from logquake.client.admin.asking.generators import Generators
from logquake.client.admin.asking.results import Results
from logquake.client.errors import (
    BrokerError,
    ClientError,
    ClosedError,
    ConnectionLostError,
    RequestTimedOutError,
    UnsupportedVersionError,
)
from logquake.client.measures import Measure
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.wire.api import request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message


@dataclass(frozen=True, slots=True)
class EnquirySettings:
    # request.timeout.ms: a request unanswered for that long ends its connection.
    request_timeout_ms: int = 30_000
    # retries: the maximum number of retries of a request before its deadline.
    retries: int = 0x7FFFFFFF
    # retry.backoff.ms and its .max: between a failure and the next attempt.
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000


@dataclass(slots=True)
class _Answers:
    """Responses for the next poll, which knows the time."""

    waiting: list[tuple[Enquiry, Answer]] = field(default_factory=list)

    def take(self) -> list[tuple[Enquiry, Answer]]:
        taken = self.waiting.copy()
        self.waiting.clear()
        return taken


class Enquiries:
    """``poll`` it instead of the updates, which it polls."""

    def __init__(
        self,
        settings: EnquirySettings,
        network: NetworkClient,
        metadata: Metadata,
        updates: MetadataUpdates,
        random: Random,
    ) -> None:
        self._settings = settings
        self._network = network
        self._metadata = metadata
        self._updates = updates
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._enquiries = Generators()
        self._answers = _Answers()
        self._is_closing = False
        self._requests = Measure("request")
        self._responses = Measure("response")
        self._latencies = Measure("request-latency")

    @property
    def is_idle(self) -> bool:
        return not self._enquiries

    def begin(
        self, name: str, asks: Asks, results: Results[Any, Any], timeout_ms: int, now_ms: int
    ) -> None:
        """Raises ClosedError once it is closing."""
        if self._is_closing:
            raise ClosedError("the admin client is closing, and takes no more calls")
        call = Call(name, results, now_ms + max(0, timeout_ms))
        self._enquiries.start(name, call, asks, now_ms)

    def metrics(self, now_ms: int) -> dict[str, float]:
        """Under Kafka's names; averages and maxima of the last minute, NaN without requests."""
        return {
            **self._requests.flow(now_ms),
            **self._responses.flow(now_ms),
            **self._latencies.spread(now_ms),
        }

    def close(self) -> None:
        """Accept no more calls."""
        self._is_closing = True

    def abandon(self, why: ClientError) -> None:
        """Fail all running calls, and accept no more."""
        self.close()
        self._enquiries.abandon(why)

    def poll(self, now_ms: int) -> None:
        fatal = self._updates.fatal  # for all calls; the next poll may recover from it
        self._updates.poll(now_ms)
        for enquiry, answer in self._answers.take():
            if enquiry in self._enquiries:
                self._take(enquiry, answer, now_ms)
        looked_at: set[Enquiry] = set()
        while fresh := [each for each in self._enquiries if each not in looked_at]:
            looked_at.update(fresh)  # they may lead to others, which are handled too
            for enquiry in fresh:
                if isinstance(enquiry.stage, Waiting):
                    self._look_at(enquiry, fatal, now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        """Like `Links.next_due_ms`."""
        due = [] if (due_ms := self._updates.next_due_ms(now_ms)) is None else [due_ms]
        for enquiry in self._enquiries:
            if isinstance(enquiry.stage, Waiting):  # the network knows when one in flight times out
                due.append(enquiry.call.deadline_ms)
                if enquiry.stage.not_before_ms > now_ms:
                    due.append(enquiry.stage.not_before_ms)
        return min(due, default=None)

    # Whom to ask, and asking

    def _look_at(self, enquiry: Enquiry, fatal: ClientError | None, now_ms: int) -> None:
        if fatal is not None:
            self._enquiries.throw(enquiry, fatal, now_ms)
        elif enquiry.call.deadline_ms <= now_ms:
            self._enquiries.throw(enquiry, enquiry.lateness(self._trouble(enquiry)), now_ms)
        elif isinstance(enquiry.stage, Waiting) and enquiry.stage.not_before_ms <= now_ms:
            node = self._node(enquiry.ask.whom, now_ms)
            if node is not None and self._network.ready(node.id, now_ms):
                self._send(enquiry, node, now_ms)

    def _node(self, whom: Whom, now_ms: int) -> Node | None:
        """None if the broker to ask is unknown: then metadata is requested."""
        snapshot = self._metadata.snapshot
        found: Node | None = None
        if isinstance(whom, Controller):
            found = snapshot.controller
        elif isinstance(whom, Broker):
            found = snapshot.nodes.get(whom.broker_id)
        elif not snapshot.is_bootstrap:
            return self._network.least_loaded(now_ms)
        if found is None:
            self._metadata.request_update()
        return found

    def _trouble(self, enquiry: Enquiry) -> str:
        """For the end of a sentence: the broker to ask is missing, or no broker responds."""
        snapshot, whom = self._metadata.snapshot, enquiry.ask.whom
        if not snapshot.is_bootstrap:
            if isinstance(whom, Broker) and whom.broker_id not in snapshot.nodes:
                brokers = ", ".join(map(str, sorted(snapshot.nodes)))
                return f": there is no broker {whom.broker_id}, there are {brokers}"
            if isinstance(whom, Controller) and snapshot.controller is None:
                return ": there is no controller"
        return self._network.trouble()

    def _send(self, enquiry: Enquiry, node: Node, now_ms: int) -> None:
        left_ms = enquiry.call.deadline_ms - now_ms
        timeout_ms = min(self._settings.request_timeout_ms, left_ms)
        ask = enquiry.ask
        try:
            version = self._network.version_of(node.id, _request_of(ask.response))
            message = ask.request(Terms(version, timeout_ms))
        except UnsupportedVersionError as error:
            self._enquiries.throw(enquiry, error, now_ms)
            return
        except Exception as error:  # noqa: BLE001 - most likely due to the arguments
            self._enquiries.fail(enquiry, error)
            return
        done = partial(self._on_answer, enquiry)
        request = ClientRequest(message, version, ask.response, done, timeout_ms)
        self._network.send(node.id, request, now_ms)
        enquiry.stage = InFlight(node, now_ms)
        self._requests.add(1, now_ms)

    def _on_answer(self, enquiry: Enquiry, answer: Answer) -> None:
        self._answers.waiting.append((enquiry, answer))

    # What came of it

    def _take(self, enquiry: Enquiry, answer: Answer, now_ms: int) -> None:
        stage = enquiry.stage
        if isinstance(answer, ClientError):
            self._failed(enquiry, answer, now_ms)
        elif isinstance(stage, InFlight):
            self._responses.add(1, now_ms)
            self._latencies.add(now_ms - stage.sent_ms, now_ms)
            try:
                enquiry.ask.accept(answer)
            except ClientError as error:
                self._failed(enquiry, error, now_ms)
            else:
                self._enquiries.answer(enquiry, Reply(answer, stage.node), now_ms)

    def _failed(self, enquiry: Enquiry, error: ClientError, now_ms: int) -> None:
        if isinstance(error, BrokerError) and error.code is ErrorCode.NOT_CONTROLLER:
            self._metadata.controller_moved()
        is_lost = isinstance(error, ConnectionLostError | RequestTimedOutError)
        enquiry.last_error = error
        enquiry.tries += 1
        if not error.retriable:
            self._enquiries.throw(enquiry, error, now_ms)
        elif enquiry.call.deadline_ms <= now_ms or enquiry.tries > self._settings.retries:
            self._enquiries.throw(enquiry, enquiry.lateness(self._trouble(enquiry)), now_ms)
        elif is_lost and enquiry.ask.on_loss is Loss.IS_RAISED:
            self._enquiries.throw(enquiry, error, now_ms)
        else:
            enquiry.stage = Waiting(now_ms + self._backoff.after(enquiry.tries - 1))


def _request_of(response: type[Message]) -> type[Message]:
    key = response.__schema__.key
    found = None if key is None else request_type(key)
    if found is None:
        raise TypeError(f"{response.__name__} answers no request")
    return found
