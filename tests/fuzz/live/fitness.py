"""Which requests may be sent: not those that do harm by right, nor those that wait for long.

Whoever may ask for it may delete a topic, move leaderships away, make ten thousand partitions, or
be an elected controller; Kafka obeys too. A request that damage made into one of these is left out,
so that whatever is disturbed afterwards was disturbed wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ProtocolError
from logquake.wire.header import decode_request_header
from logquake.wire.schema import Message, Struct, decode
from tests.fuzz.live.contents import CONFIGS, TOPICS, USERS, World

LONGEST_WAIT_MS = 1_000
MOST_PARTITIONS = 4
LOOPBACK = "127.0.0.1"
TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
_WAITS = ("max_wait_ms", "timeout_ms", "session_timeout_ms", "rebalance_timeout_ms")
_LIVES = ("transaction_timeout_ms", "max_life_time_ms")
_FROM_CONTROLLER = (ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA)
_MAKES = (ApiKey.CREATE_TOPICS, ApiKey.CREATE_PARTITIONS, ApiKey.DELETE_TOPICS)
_BROKER_IDS = range(1, 10)


def is_fit(key: int, request: Message, world: World) -> bool:
    if any(_is_long(name, value) for name, value in _fields(request)):
        return False
    if key in _FROM_CONTROLLER:
        return _is_fit_command(key, request, world)
    if key in _MAKES:
        return _is_small(request) and _names_victims(request)
    match key:
        case ApiKey.CONTROLLED_SHUTDOWN:
            return request.broker_id not in _BROKER_IDS  # type: ignore[attr-defined]
        case ApiKey.ALTER_CONFIGS | ApiKey.INCREMENTAL_ALTER_CONFIGS:
            return all(map(_is_fit_config, request.resources))  # type: ignore[attr-defined]
        case ApiKey.ALTER_CLIENT_QUOTAS:
            return False  # of everybody, or of who is nobody: the strangers themselves
        case ApiKey.ALTER_USER_SCRAM_CREDENTIALS:
            return all(name != "name" or value in USERS for name, value in _fields(request))
        case ApiKey.ENVELOPE:
            return _is_fit_inside(request.request_data, world)  # type: ignore[attr-defined]
    return True


def _fields(struct: Struct) -> Iterator[tuple[str, Any]]:
    """Of the struct and of all in it."""
    for name in struct.__schema__.fields:
        value = getattr(struct, name)
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, Struct):
                yield from _fields(each)
            else:
                yield name, each


def _is_long(name: str, value: Any) -> bool:
    if name in _LIVES:
        return not 0 < value <= LONGEST_WAIT_MS
    return name in _WAITS and value > LONGEST_WAIT_MS


def _is_fit_command(key: int, request: Any, world: World) -> bool:
    if key == ApiKey.UPDATE_METADATA or request.controller_epoch > world.controller_epoch:
        return bool(request.controller_epoch < world.controller_epoch)
    return _is_small(request) and _names_victims(request)


def _is_small(request: Message) -> bool:
    for name, value in _fields(request):
        match name:
            case "num_partitions" | "count" if value > MOST_PARTITIONS:
                return False
            case "partition_index" | "partition_indexes" if value >= MOST_PARTITIONS:
                return False
            case "host_name" | "host" if value != LOOPBACK:
                return False
    return True


def _names_victims(request: Message) -> bool:
    names = ("name", "topic_name", "topic", "topic_names")
    known = (*TOPICS, *CONFIGS, None, "")
    return all(name not in names or value in known for name, value in _fields(request))


def _is_fit_config(resource: Any) -> bool:
    if resource.resource_type == TOPIC_RESOURCE:
        return resource.resource_name in TOPICS
    return bool(resource.resource_type != BROKER_RESOURCE)


def _is_fit_inside(data: bytes, world: World) -> bool:
    read = readable(data)
    return read is None or is_fit(*read, world)


def readable(content: bytes) -> tuple[int, Message] | None:
    """The key and the request of a frame without its length; None if it cannot be read."""
    try:
        header, start = decode_request_header(memoryview(content))
        kind = request_type(header.api_key)
        assert kind is not None
        return header.api_key, decode(kind, header.api_version, memoryview(content)[start:])
    except ProtocolError:
        return None
