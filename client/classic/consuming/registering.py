"""A consumer's membership in its group, for the time of its session (registerConsumerInZK)."""

from __future__ import annotations

from threading import Event

from logquake.client.classic.consuming.group import ids_path
from logquake.client.classic.consuming.registration import TopicCount, encode_registration
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.coordination.nodes import claim
from logquake.client.classic.errors import NotRegisteredError
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.clock import Clock

_SESSIONS = 3  # how many of them to wait for another session's node to disappear
# A server's sessions are at least two of its ticks long, whatever is requested.
_LEAST_SESSION_MS = 6_000


class Registering:
    def __init__(self, consumer: str, config: ConsumerConfig, clock: Clock) -> None:
        self._consumer = consumer
        self._config = config
        self._clock = clock

    def register(self, zk: ZkClient, wanted: TopicCount, stopping: Event) -> None:
        """Waits for the node of an earlier session to disappear. Raises ClientError."""
        path = f"{ids_path(self._config.group_id)}/{self._consumer}"
        asked_ms, waited_ms = self._config.zookeeper_session_timeout_ms, 0
        while waited_ms < _SESSIONS * max(asked_ms, _LEAST_SESSION_MS):
            data = encode_registration(wanted, self._clock.wall_ms())
            if zk.run(claim(path, data, zk.session_id)):
                return
            if stopping.wait(asked_ms / 1000):
                break
            waited_ms += asked_ms
        raise NotRegisteredError(f"{self._consumer} is registered by somebody else")
