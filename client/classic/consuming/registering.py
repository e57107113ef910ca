"""A consumer's place in its group, for as long as its session (registerConsumerInZK)."""

from __future__ import annotations

from threading import Event

from logquake.client.classic.consuming.group import ids_path
from logquake.client.classic.consuming.registration import TopicCount, encode_registration
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.coordination.nodes import claim
from logquake.client.classic.errors import NotRegisteredError
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.clock import Clock

_ATTEMPTS = 3


class Registering:
    def __init__(self, consumer: str, config: ConsumerConfig, clock: Clock) -> None:
        self._consumer = consumer
        self._config = config
        self._clock = clock

    def register(self, zk: ZkClient, wanted: TopicCount, stopping: Event) -> None:
        """A node of an earlier session is waited out. Raises ClientError."""
        path = f"{ids_path(self._config.group_id)}/{self._consumer}"
        for _ in range(_ATTEMPTS):
            data = encode_registration(wanted, self._clock.wall_ms())
            if zk.run(claim(path, data, zk.session_id)):
                return
            if stopping.wait(self._config.zookeeper_session_timeout_ms / 1000):
                break
        raise NotRegisteredError(f"{self._consumer} is registered by somebody else")
