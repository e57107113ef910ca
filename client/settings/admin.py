"""The configuration of an admin client (AdminClientConfig)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar

from logquake.client.network.settings import NetworkSettings
from logquake.client.settings.absent import ABSENT_FROM_ALL
from logquake.client.settings.common import CommonConfig
from logquake.client.settings.following import make_at_least, meant
from logquake.client.settings.keys import Absent, key
from logquake.client.settings.kinds import INT_MAX, integer, long


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminConfig(CommonConfig):
    client: ClassVar[str] = "an admin client"
    absent: ClassVar[Mapping[str, Absent]] = {
        **ABSENT_FROM_ALL,
        "bootstrap.controllers": Absent("there is no quorum of KRaft's beside ZooKeeper"),
    }
    numbers: ClassVar[count[int]] = count(1)

    connections_max_idle_ms: int = key(300_000, long(-1))
    # For a call with all its retries: no less than request.timeout.ms.
    default_api_timeout_ms: int = key(60_000, integer(0))
    retries: int = key(INT_MAX, integer(0))

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        CommonConfig.settle(given)
        least_ms = meant(cls, given, "request_timeout_ms")
        make_at_least(cls, given, "default_api_timeout_ms", least_ms, "request.timeout.ms")
        if not given.get("client_id"):
            given["client_id"] = f"adminclient-{next(cls.numbers)}"

    def network(self) -> NetworkSettings:
        """A broker is asked one thing at a time, as by Kafka's."""
        return replace(CommonConfig.network(self), max_in_flight_requests=1)
