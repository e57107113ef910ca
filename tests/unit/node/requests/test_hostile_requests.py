"""Whatever decodes is answered once, in a form that the version can carry.

Requests of every served key and version are filled at random from values that go wrong elsewhere:
names that exist and that do not, zero ids, negative and extreme numbers, duplicates, nulls,
records that are none. The seed is the number of the case. Time-outs stay short: a client may ask
for a wait of 24 days, and gets it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from random import Random
from typing import Any

import pytest

from logquake.seams.network import Disconnected
from logquake.wire.api import FORWARDABLE, ApiKey, request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.schema import Message, Struct
from logquake.wire.schema.fields import (
    ArrayOf,
    Binary,
    Field,
    FieldType,
    RecordData,
    StructOf,
    Text,
)
from logquake.wire.uuids import ZERO_UUID
from tests.unit.node.requests.lone_broker import LoneBroker
from tests.unit.node.requests.test_envelope import envelope, forwarded

SERVED = (
    *range(32),
    32,
    33,
    34,
    35,
    36,
    *range(37, 42),
    42,
    43,
    44,
    47,
    48,
    49,
    50,
    51,
    56,
    57,
    58,
    60,
    61,
    65,
    66,
    67,
    68,
    69,
)
REQUESTS_A_KEY = 150
# Where nothing else could tell: acks=0, and what Kafka's own classes refuse to be made of.
ENDS_CONNECTIONS = (
    ApiKey.PRODUCE,
    ApiKey.DESCRIBE_ACLS,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
)

NAMES = ["orders", "orders", "elsewhere", "nowhere", "", "..", "no spaces", "x" * 250, "é"]
QUOTAS = {  # else few requests would get far
    "entity_type": ["user", "user", "client-id", "ip"],
    "key": ["producer_byte_rate", "request_percentage", "connection_creation_rate"],
}
FLOATS = [0.0, 1.0, -1.5, 1e300, -1e300, 1e-320, inf, -inf, nan]
WAITS_MS = [-1, 0, 1, 500, -(2**31)]
LIMITS = {"b": 2**7, "h": 2**15, "i": 2**31, "q": 2**63}
SMALL = [-5, -4, -3, -2, -1, 0, 0, 0, 1, 1, 2, 3, 100]


class Chooser:
    """Builds a message of a version field by field."""

    def __init__(self, random: Random, topic_ids: list[bytes], records: list[bytes]) -> None:
        self._random = random
        self._topic_ids = [*topic_ids, ZERO_UUID, b"\x07" * 16]
        self._records = records

    def message(self, cls: type[Struct], version: int) -> Any:
        return cls(
            **{
                name: self._field(name, field, version)
                for name, field in cls.__schema__.fields.items()
                if version in field.versions
            }
        )

    def _field(self, name: str, field: Field, version: int) -> Any:
        if version in field.nullable and self._random.random() < 0.2:
            return None
        if name in ("max_wait_ms", "timeout_ms"):
            return self._random.choice(WAITS_MS)
        if name in QUOTAS and self._random.random() < 0.5:
            return self._random.choice(QUOTAS[name])
        return self._value(field.type, version)

    def _value(self, kind: FieldType, version: int) -> Any:
        match kind:
            case Text():
                return self._random.choice(NAMES)
            case Binary() | RecordData():
                return self._random.choice(self._records)
            case ArrayOf(element=element):
                return [
                    self._value(element, version) for _ in range(self._random.choice([0, 1, 3]))
                ]
            case StructOf(struct=struct):
                return self.message(struct, version)
        if kind.code == "?":
            return self._random.random() < 0.5
        if kind.code == "16s":
            return self._random.choice(self._topic_ids)
        if kind.code == "d":
            return self._random.choice(FLOATS)
        return self._random.choice([*SMALL, LIMITS[kind.code] - 1, -LIMITS[kind.code]])


@pytest.fixture
def properties() -> dict[str, str]:
    """Groups are coordinated here."""
    return {"offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "1"}


@pytest.fixture(autouse=True)
def coordinating(broker: LoneBroker) -> None:
    broker.ask(FindCoordinatorRequest(key="orders"), 0)
    broker.settle()


def test_every_served_key_is_driven(broker: LoneBroker) -> None:
    assert tuple(broker.served) == SERVED


@pytest.mark.parametrize("key", SERVED, ids=lambda key: ApiKey(key).name)
def test_any_request_is_answered_once(
    broker: LoneBroker, batch: Callable[..., bytes], key: int
) -> None:
    good = batch(b"one", b"two")
    records = [good, good + good, good[:-3], good[:20], b"", b"\xff" * 70]
    ids = [broker.topic_id("orders"), broker.topic_id("elsewhere")]
    request: type[Message] | None = request_type(key)
    assert request is not None
    for case in range(REQUESTS_A_KEY):
        random = Random(case)
        version = random.choice(broker.served[key])
        message = Chooser(random, ids, records).message(request, version)
        outcomes = broker.outcomes(message, version)
        assert len(outcomes) == 1, (case, version, message)
        if isinstance(outcomes[0], Disconnected):
            assert key in ENDS_CONNECTIONS, (case, version, message)
            assert key != ApiKey.PRODUCE or message.acks == 0


@pytest.mark.parametrize("key", sorted(FORWARDABLE & set(SERVED)), ids=lambda key: ApiKey(key).name)
def test_any_forwarded_request_is_answered_once(broker: LoneBroker, key: ApiKey) -> None:
    request: type[Message] | None = request_type(key)
    assert request is not None
    ids = [broker.topic_id("orders")]
    for case in range(REQUESTS_A_KEY):
        random = Random(case)
        version = random.choice(broker.served[key])
        message = Chooser(random, ids, [b"", b"\xff" * 20]).message(request, version)
        reply = broker.ask(envelope(forwarded(message, version)), 0)
        would_end = key in ENDS_CONNECTIONS and reply.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert would_end or reply.error_code == 0, (case, version, message)


def test_the_broker_is_well_afterwards(broker: LoneBroker, batch: Callable[..., bytes]) -> None:
    """Nothing that a client may ask harms what others are told."""
    test_any_request_is_answered_once(broker, batch, ApiKey.PRODUCE)
    test_any_request_is_answered_once(broker, batch, ApiKey.FETCH)
    metadata = broker.ask(MetadataRequest(topics=None), 12)
    assert {topic.error_code for topic in metadata.topics} <= {
        ErrorCode.NONE,
        ErrorCode.LEADER_NOT_AVAILABLE,
    }
