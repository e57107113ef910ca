"""Strangers who use more than they may, of every resource with a quota (KIP-13, 124, 599, 612).

Told apart from the bystander by their address, and by client ids that are never its own.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from logquake.client.connection import Connection
from logquake.client.errors import check
from logquake.client.settings import Address
from logquake.node.quotas.alteration import CLIENT_ID, CONNECTION_CREATION_RATE, IP
from logquake.node.quotas.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchResponse
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from logquake.wire.schema import Message

STRANGERS_HOST: Final = "127.0.0.2"
LONGEST_REST_S: Final = 0.3  # who is told to wait longer hangs up, and comes again
# Short windows: whoever is over a limit is let go on while the run lasts.
CONFIG: Final = {
    "quota.window.num": "3",
    "quota.window.size.seconds": "1",
    "controller.quota.window.num": "3",
    "controller.quota.window.size.seconds": "1",
}

Limits = Mapping[str, float]
_OF_ALL: Final[Limits] = {
    PRODUCER_BYTE_RATE: 50,
    CONSUMER_BYTE_RATE: 10,
    REQUEST_PERCENTAGE: 0.05,
    CONTROLLER_MUTATION_RATE: 0.05,
}
_OF_THE_BYSTANDER: Final[Limits] = dict.fromkeys(_OF_ALL, 1e12)
_BYSTANDER: Final = "rdkafka"  # what librdkafka calls itself
_CONNECTIONS_A_SECOND: Final = 100
_ROUNDED_S: Final = 0.005  # off what a broker's clock tells

# Who mutates too much is refused, in versions that know the error (KIP-599).
_REFUSING: Final[Mapping[int, int]] = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.DELETE_TOPICS: 5,
    ApiKey.CREATE_PARTITIONS: 3,
}


def from_afar(address: Address, timeout_s: float) -> socket.socket:
    """From the address whose connections may not come faster."""
    return socket.create_connection(address, timeout_s, source_address=(STRANGERS_HOST, 0))


def set_limits(connection: Connection) -> None:
    """Raises BrokerError, ConnectionLostError or RequestTimedOutError."""
    entries = [  # in this order, or the bystander would be limited as all are for a moment
        _entry(CLIENT_ID, _BYSTANDER, _OF_THE_BYSTANDER),
        _entry(CLIENT_ID, None, _OF_ALL),
        _entry(IP, STRANGERS_HOST, {CONNECTION_CREATION_RATE: _CONNECTIONS_A_SECOND}),
    ]
    with closing(connection):
        answer = connection.request(
            AlterClientQuotasRequest(entries=entries), AlterClientQuotasResponse
        )
    for each in answer.entries:
        check(each.error_code, each.error_message or "quotas")


def _entry(kind: str, name: str | None, limits: Limits) -> AlterClientQuotasRequestEntryData:
    return AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name)],
        ops=[OpData(key=key, value=limit) for key, limit in limits.items()],
    )


@dataclass
class Rests:
    """What one connection was told to wait, held against what it is answered then."""

    throttled: Counter[str]
    _sent_s: float = 0.0
    _until_s: float = 0.0

    def on_sent(self, now_s: float) -> None:
        self._sent_s = now_s

    def on_answer(
        self, key: int, version: int, body: Message, errors: frozenset[int], now_s: float
    ) -> Iterator[str]:
        """What is wrong with it."""
        # A Produce may have been handled before the one in front of it was answered.
        if now_s < self._until_s - _ROUNDED_S and key != ApiKey.PRODUCE:
            yield "a connection that rests was answered"
        wait_ms: int = getattr(body, "throttle_time_ms", 0)
        if wait_ms < 0:
            yield "a wait of less than nothing"
        elif wait_ms:
            self.throttled[ApiKey(key).name] += 1
            # It was told after it had asked, if long before this was read.
            self._until_s = max(self._until_s, self._sent_s + wait_ms / 1_000)
            if isinstance(body, FetchResponse) and any(_records(body)):
                yield "who has to wait was given records"
        if ErrorCode.THROTTLING_QUOTA_EXCEEDED in errors:
            self.throttled["mutations refused"] += 1
            if version < _REFUSING.get(key, version + 1):
                yield "THROTTLING_QUOTA_EXCEEDED to who does not know it"

    def is_long(self, now_s: float) -> bool:
        return self._until_s - now_s > LONGEST_REST_S


def _records(answer: FetchResponse) -> Iterator[Any]:
    return (each.records for topic in answer.responses for each in topic.partitions)
