"""Topics made because they are needed: by a client that asked about them, or by a coordinator.

A broker of Kafka's writes the znodes of such a topic itself (AutoTopicCreationManager). Here the
active controller is asked for it with CreateTopics, as for every other topic, and what it says the
client is told: LEADER_NOT_AVAILABLE of a topic that is being made, or why it cannot be. Where no
controller answers in time the topic is unknown, and the client asks again.
One request a topic is in flight at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.coordinators import CoordinatorTopic, CoordinatorTopics
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from logquake.seams.network import Channel, Disconnected
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.schema import Message

_CREATE_TOPICS_VERSION = 7
_AT_ONCE = 0  # ms that the controller waits for leaders: REQUEST_TIMED_OUT is its word for success
_MADE = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT)
_TOLD = {  # DefaultAutoTopicCreationManager.createTopicsInZk
    **dict.fromkeys(_MADE, ErrorCode.LEADER_NOT_AVAILABLE),
    ErrorCode.TOPIC_ALREADY_EXISTS: ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_CONTROLLER: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}

Codes = Mapping[str, ErrorCode]
Told = dict[str, ErrorCode]


@dataclass(frozen=True, slots=True)
class TopicShape:
    """What a topic is made with that nobody described."""

    partitions: int
    replication_factor: int
    config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AutoCreationSettings:
    # Topics are made that clients ask about. Coordinators' topics are made in any case.
    enabled: bool
    # What the broker's settings give to topics that say nothing.
    users: TopicShape
    # By name: those of the coordinators.
    internal: Mapping[str, TopicShape]
    # How long a client waits for the controller's word.
    max_wait_ms: int

    def shape_of(self, topic: str) -> TopicShape:
        return self.internal.get(topic, self.users)

    @property
    def coordinator_topics(self) -> CoordinatorTopics:
        """As they are made."""
        return CoordinatorTopics(
            groups=self._coordinator_topic(GROUP_METADATA_TOPIC),
            transactions=self._coordinator_topic(TRANSACTION_STATE_TOPIC),
        )

    def _coordinator_topic(self, name: str) -> CoordinatorTopic:
        return CoordinatorTopic(name, self.internal[name].partitions)


class AutoTopicCreation:
    def __init__(
        self, settings: AutoCreationSettings, controller: ControllerRequests, scheduler: Scheduler
    ) -> None:
        self._settings = settings
        self._controller = controller
        self._scheduler = scheduler
        self._in_flight: set[str] = set()

    @property
    def is_for_clients(self) -> bool:
        """Whether a client's question is reason enough."""
        return self._settings.enabled

    def create(
        self,
        topics: Collection[str],
        done: Callable[[Told], None],
        created: Callable[[int], None],
    ) -> None:
        """Have these topics made; done gets what a client that asked is told of each, once, and
        created how many partitions came of it.

        A broker that has just come may know of no controller yet.
        """
        unknown = dict.fromkeys(topics, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        new = [topic for topic in topics if topic not in self._in_flight]
        if not new:
            done(unknown)
            return
        answer_once = _Once(done)

        def end(codes: Codes) -> None:
            self._in_flight.difference_update(new)
            patience.cancel()
            made = [name for name, code in codes.items() if code in _MADE]
            created(sum(self._settings.shape_of(name).partitions for name in made))
            answer_once(unknown | {name: _TOLD.get(code, code) for name, code in codes.items()})

        def ask(channel: Channel | None) -> None:
            if channel is None:
                end({})
            else:
                request = self._request(new)
                channel.send(request, _CREATE_TOPICS_VERSION, lambda answer: end(_codes(answer)))

        self._in_flight.update(new)
        max_wait_ms = self._settings.max_wait_ms
        patience = self._scheduler.call_later(max_wait_ms, lambda: answer_once(unknown))
        self._controller.find(ask, within_ms=max_wait_ms)

    def _request(self, topics: Iterable[str]) -> CreateTopicsRequest:
        wanted = [_creatable(topic, self._settings.shape_of(topic)) for topic in topics]
        return CreateTopicsRequest(topics=wanted, timeout_ms=_AT_ONCE)


class _Once:
    """Passes on the first answer: the controller's, or that there was none in time."""

    def __init__(self, done: Callable[[Told], None]) -> None:
        self._done: Callable[[Told], None] | None = done

    def __call__(self, told: Told) -> None:
        done, self._done = self._done, None
        if done is not None:
            done(told)


def _creatable(topic: str, shape: TopicShape) -> CreatableTopic:
    return CreatableTopic(
        name=topic,
        num_partitions=shape.partitions,
        replication_factor=shape.replication_factor,
        configs=[CreatableTopicConfig(name=key, value=text) for key, text in shape.config.items()],
    )


def _codes(answer: Message | Disconnected) -> Codes:
    if not isinstance(answer, CreateTopicsResponse):
        return {}
    return {topic.name: ErrorCode.of_peer(topic.error_code) for topic in answer.topics}
