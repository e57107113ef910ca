"""A client that creates topics, and asks again wherever Kafka's own admin client would."""

from __future__ import annotations

from random import Random

from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.sim.clients import Client
from tests.sim.history import TopicAnswer
from tests.sim.network import Fabric
from tests.sim.world import MADE, World

CREATE_TOPICS_VERSION = 7
CREATE_TIMEOUT_MS = 500
_MADE = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.TOPIC_ALREADY_EXISTS)


class TopicMaker(Client):
    """One topic after the other, each until it is there."""

    def __init__(self, name: str, fabric: Fabric, world: World, rng: Random) -> None:
        super().__init__(name, TopicPartition(MADE, 0), fabric, world, rng)
        self._count = 0
        self._may_be_there = False

    def start(self) -> None:
        self._count += 1
        self._may_be_there = False
        self._attempt()

    def _attempt(self) -> None:
        if self.is_stopped:
            return
        topic = CreatableTopic(
            name=f"{MADE}-{self._count}",
            num_partitions=1,
            replication_factor=1,
            configs=[CreatableTopicConfig(name="retention.ms", value="60000")],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=CREATE_TIMEOUT_MS)
        broker = self.world.controller_id() or self.any_broker()
        self.ask(broker, request, CREATE_TOPICS_VERSION, self._on_answer)

    def _on_answer(self, answer: Message | Disconnected) -> None:
        if not isinstance(answer, CreateTopicsResponse):
            self._may_be_there = True  # now, or when the request is come to
            self.later(20, 120, self._attempt)
            return
        (result,) = answer.topics
        code = ErrorCode(result.error_code)
        self.world.tell(TopicAnswer(result.name, code, may_be_there=self._may_be_there))
        if code in _MADE:
            self.later(50, 400, self.start)
        else:
            self.later(20, 120, self._attempt)
