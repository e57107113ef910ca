"""Requests metadata when it is time, from the least loaded broker (DefaultMetadataUpdater)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    UnencodableError,
    UnsupportedVersionError,
)
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata import Metadata, MetadataSettings, Question
from logquake.client.network.network_client import NetworkClient
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

_ALL_BY_AN_EMPTY_LIST = 0  # the version in which an empty list means all topics
_CREATES_UNLESS_TOLD_SINCE = 4  # before it, any request for a topic may create it


def metadata_request(
    topics: Collection[str] | None, version: int, *, creates: bool
) -> MetadataRequest:
    """For all topics if ``topics`` is None."""
    if topics is None and version == _ALL_BY_AN_EMPTY_LIST:
        topics = ()
    named = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
    is_told_to_create = creates or version < _CREATES_UNLESS_TOLD_SINCE
    return MetadataRequest(topics=named, allow_auto_topic_creation=is_told_to_create)


class MetadataUpdates:
    """``poll`` it instead of the links, which it polls.

    ``whom`` returns the broker to ask now, or None; by default the least loaded one.
    """

    def __init__(
        self,
        settings: MetadataSettings,
        network: NetworkClient,
        metadata: Metadata,
        whom: Callable[[int], Node | None] | None = None,
    ) -> None:
        self._settings = settings
        self._network = network
        self._metadata = metadata
        self._whom = whom or network.least_loaded
        self._asked: tuple[Question, int] | None = None  # in flight, in that version
        self._answer: Answer | None = None
        self._wanted_since_ms: int | None = None  # since when a response is overdue
        self.failure: ClientError | None = None  # of the last request
        self._got_over: list[ClientError] = []  # another broker has accepted us since

    def poll(self, now_ms: int) -> None:
        self._network.links.poll(now_ms)
        self._take_answer(now_ms)
        triggered_ms = self._triggered_ms()
        if triggered_ms is not None and triggered_ms <= now_ms:
            self._give_up_all(now_ms)
            self._take_answer(now_ms)
        if self._asked is None and not self._metadata.update_delay_ms(now_ms):
            if self._wanted_since_ms is None:
                self._wanted_since_ms = now_ms
            self._ask(now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        """Like `Links.next_due_ms`."""
        due_ms = self._network.links.next_due_ms(now_ms)
        triggered_ms = self._triggered_ms()
        if triggered_ms is not None and (due_ms is None or triggered_ms < due_ms):
            due_ms = triggered_ms
        delay_ms = self._metadata.update_delay_ms(now_ms)
        if self._asked is not None or not delay_ms:  # the links report what it waits for
            return due_ms
        return now_ms + delay_ms if due_ms is None else min(due_ms, now_ms + delay_ms)

    @property
    def fatal(self) -> ClientError | None:
        """Why waiting for a response is pointless: no common version, or failed authentication.
        None again once a broker responds.
        """
        if isinstance(self.failure, UnsupportedVersionError | UnencodableError):
            return self.failure
        failures = self._network.authentication_failures()
        return next((one for one in failures if one not in self._got_over), None)

    def _ask(self, now_ms: int) -> None:
        node = self._whom(now_ms)
        if node is None and self._settings.rebootstraps and self._network.is_cut_off():
            self._rebootstrap(now_ms)
            node = self._whom(now_ms)
        if node is None or not self._network.ready(node.id, now_ms):
            return
        try:
            version = self._network.version_of(node.id, MetadataRequest)
        except UnsupportedVersionError as error:
            self.failure = error
            self._metadata.fail(now_ms)
            return
        question = self._metadata.question(now_ms)
        request = metadata_request(question.topics, version, creates=self._settings.creates_topics)
        self._asked = (question, version)
        asked = ClientRequest(request, version, MetadataResponse, self._on_answer)
        self._network.send(node.id, asked, now_ms)

    def _triggered_ms(self) -> int | None:
        """When metadata.recovery.rebootstrap.trigger.ms will have passed without a response."""
        if self._wanted_since_ms is None or not self._settings.rebootstraps:
            return None
        return self._wanted_since_ms + self._settings.rebootstrap_trigger_ms + 1

    def _give_up_all(self, now_ms: int) -> None:
        """Like Kafka's handleRebootstrap: close all connections, since none of them responds."""
        links = [self._network.link(node.id) for node in self._metadata.nodes()]
        for link in filter(None, links):
            why = ConnectionLostError(f"no metadata came for long: {link.node} was given up")
            self._network.links.end(link, why, now_ms)
        self._rebootstrap(now_ms)

    def _rebootstrap(self, now_ms: int) -> None:
        self._metadata.rebootstrap()
        self._wanted_since_ms = now_ms

    def _on_answer(self, answer: Answer) -> None:
        """Keep the response for the next poll, which knows the time."""
        self._answer = answer

    def _take_answer(self, now_ms: int) -> None:
        if self._asked is not None and self._answer is not None:
            asked, answer = self._asked, self._answer
            self._asked = self._answer = None
            self._take(*asked, answer, now_ms)

    def _take(self, question: Question, version: int, answer: Answer, now_ms: int) -> None:
        if isinstance(answer, MetadataResponse):
            self.failure = None
            self._got_over = self._network.authentication_failures()
            self._metadata.update(question, answer, version, now_ms)
            if answer.brokers:
                self._wanted_since_ms = None
        elif isinstance(answer, ClientError):
            self.failure = answer
            self._metadata.fail(now_ms)
