"""Valid requests of any key and version, about things that are there to be hurt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from time import time
from typing import Any

from logquake.wire.api import ApiKey, request_type
from logquake.wire.header import RequestHeader, encode_request
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
from tests.fuzz.batches import damaged_batch
from tests.parts import joined

TOPICS = ("victim-0", "victim-1")
GROUPS = ("prey-0", "prey-1", "prey-2")
TRANSACTIONAL_IDS = ("hunted-0", "hunted-1", "hunted-2")
USERS = ("nobody-0", "nobody-1")
CONFIGS = ("cleanup.policy", "retention.ms", "min.insync.replicas", "compression.type", "nonsense")
PARTITIONS = 2  # of each victim

_LIMITS = {"b": 2**7, "h": 2**15, "i": 2**31, "q": 2**63, "H": 2**16}
_SMALL = (-2, -1, -1, 0, 0, 0, 1, 1, 2, 3, 5, 100)
_ODD_TEXTS = ("", "..", "no spaces", "x" * 250, "é☃", "\0")

Choices = Sequence[Any]
_TEXTS: Mapping[str, Choices] = {
    "topic": TOPICS,
    "topics": TOPICS,
    "name": (*TOPICS, *CONFIGS, *USERS, "range"),
    "topic_name": TOPICS,
    "topic_names": TOPICS,
    "resource_name": (*TOPICS, *GROUPS, "1", ""),
    "group_id": GROUPS,
    "group": GROUPS,
    "groups": GROUPS,
    "group_ids": GROUPS,
    "groups_names": GROUPS,
    "key": (*GROUPS, *TRANSACTIONAL_IDS),
    "coordinator_keys": (*GROUPS, *TRANSACTIONAL_IDS),
    "transactional_id": TRANSACTIONAL_IDS,
    "transactional_ids": TRANSACTIONAL_IDS,
    "v3_and_below_transactional_id": TRANSACTIONAL_IDS,
    "member_id": ("", "nobody"),
    "group_instance_id": ("static",),
    "protocol_type": ("consumer", "connect"),
    "protocol_name": ("range",),
    "mechanism": ("PLAIN", "SCRAM-SHA-512"),
    "principal": tuple(f"User:{user}" for user in USERS),
    "host": ("127.0.0.1",),
    "value": ("1", "compact", "-1", "true", "delete"),
}
_NUMBERS: Mapping[str, Choices] = {
    "acks": (1, -1, -1),
    "max_wait_ms": (0, 1, 20),
    "timeout_ms": (0, 100, 500),
    "session_timeout_ms": (100, 200),
    "rebalance_timeout_ms": (0, 100),
    "transaction_timeout_ms": (100, 500),
    "max_life_time_ms": (1000,),
    "num_partitions": (1, PARTITIONS),
    "count": (1, 3),
    "replication_factor": (1, 1, -1, 3),
    "partition": (0, 0, 1, -1),
    "index": (0, 0, 1, -1),
    "partition_index": (0, 0, 1, -1),
    "partitions": (0, 1),
    "partition_indexes": (0, 1),
    "replica_id": (-1, -1, -2, 1, 7),
    "resource_type": (2, 2, 3, 4),
    "iterations": (4096,),
}


@dataclass
class World:
    """What the cluster told of itself. ``topic_ids`` are the victims'."""

    controller_epoch: int
    topic_ids: list[bytes] = field(default_factory=list)


class Contents:
    """Requests in which the names fit their fields; numbers are common ones, or extreme."""

    def __init__(self, random: Random, world: World) -> None:
        self._random = random
        self._world = world

    def frame(self, key: int, version: int) -> bytes:
        """A whole request, without its length."""
        kind = request_type(key)
        assert kind is not None
        body: Message = self._message(kind, version)
        client = self._random.choice((None, "", "stranger"))
        header = RequestHeader(key, version, self._random.getrandbits(31), client)
        return joined(encode_request(header, body))[4:]

    def _message(self, cls: type[Struct], version: int) -> Any:
        return cls(
            **{
                name: self._field(name, field, version)
                for name, field in cls.__schema__.fields.items()
                if version in field.versions
            }
        )

    def _field(self, name: str, field: Field, version: int) -> Any:
        if version in field.nullable and self._random.random() < 0.15:
            return None
        return self._value(name, field.type, version)

    def _value(self, name: str, kind: FieldType, version: int) -> Any:
        match kind:
            case Text():
                odd = self._random.random() < 0.05
                return self._random.choice(_ODD_TEXTS if odd else _TEXTS.get(name, _ODD_TEXTS))
            case RecordData():
                return damaged_batch(self._random, int(time() * 1000))
            case Binary():
                return self._bytes(name)
            case ArrayOf(element=element):
                count = self._random.choice((0, 1, 1, 1, 2))
                return [self._value(name, element, version) for _ in range(count)]
            case StructOf(struct=struct):
                return self._message(struct, version)
        return self._scalar(name, kind.code)

    def _bytes(self, name: str) -> bytes:
        if name == "request_data":  # of an envelope
            return self.frame(self._random.choice(_FORWARDED), 0)
        return self._random.choice((b"", b"bytes", self._random.randbytes(20)))

    def _scalar(self, name: str, code: str) -> Any:
        match code:
            case "?":
                return self._random.random() < 0.5
            case "d":
                return self._random.choice((0.0, 1.0, -1.0, 1e300))
            case "16s":
                return self._random.choice((*self._world.topic_ids, ZERO_UUID, b"\x07" * 16))
        if name in ("controller_epoch", "coordinator_epoch"):
            return self._random.choice((0, self._world.controller_epoch))
        limit = _LIMITS[code]
        if self._random.random() < 0.05:
            return self._random.choice((limit - 1, 0 if code == "H" else -limit))
        number = self._random.choice(_NUMBERS.get(name, _SMALL))
        return max(number, 0) if code == "H" else number


_FORWARDED = (ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS)
