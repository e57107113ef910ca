"""Topics made because a client asked about them (auto.create.topics.enable).

The broker asks the active controller to create the topic, with num.partitions and
default.replication.factor, and does not wait: the client is told to ask again
(Kafka's AutoTopicCreationManager). One request a topic is in flight at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.controller.ports import Disconnected
from logquake.node.controller_link import ControllerLink
from logquake.wire.messages.topics import CreatableTopic, CreateTopicsRequest
from logquake.wire.schema import Message

_CREATE_TOPICS_VERSION = 7


@dataclass(frozen=True, slots=True)
class AutoCreationSettings:
    enabled: bool  # auto.create.topics.enable
    partitions: int  # num.partitions
    replication_factor: int  # default.replication.factor
    timeout_ms: int  # request.timeout.ms: how long the controller may wait for leaders


class AutoTopicCreation:
    def __init__(self, settings: AutoCreationSettings, controller: ControllerLink) -> None:
        self._settings = settings
        self._controller = controller
        self._in_flight: set[str] = set()

    def request(self, topic: str) -> None:
        """Have the topic created, unless that is switched off or under way."""
        channel = self._controller.channel()
        if not self._settings.enabled or topic in self._in_flight or channel is None:
            return

        def done(_: Message | Disconnected) -> None:
            # Whatever the answer, the client asks again and finds the topic or tries anew.
            self._in_flight.discard(topic)

        self._in_flight.add(topic)
        channel.send(self._create(topic), _CREATE_TOPICS_VERSION, done)

    def _create(self, topic: str) -> CreateTopicsRequest:
        wanted = CreatableTopic(
            name=topic,
            num_partitions=self._settings.partitions,
            replication_factor=self._settings.replication_factor,
        )
        return CreateTopicsRequest(topics=[wanted], timeout_ms=self._settings.timeout_ms)
