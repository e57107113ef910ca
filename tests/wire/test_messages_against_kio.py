"""Messages of replication and administration as another implementation reads and writes them.

kio 0.5.0 was generated from Kafka's own definitions and holds every version of these. Its values
are typed more narrowly than the wire (error codes, times, ids), so values are drawn from what
it takes, and compared in plain form.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.schema import Message, Struct, decode, encode
from logquake.wire.uuids import ZERO_UUID

KEYS = [
    ApiKey.PRODUCE,
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.METADATA,
    ApiKey.LEADER_AND_ISR,
    ApiKey.STOP_REPLICA,
    ApiKey.UPDATE_METADATA,
    ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.FIND_COORDINATOR,
    ApiKey.API_VERSIONS,
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.ALTER_PARTITION,
    ApiKey.ALLOCATE_PRODUCER_IDS,
]


def _cases() -> list[Any]:
    cases = []
    for key in KEYS:
        for find, load in (
            (request_type, load_request_schema),
            (response_type, load_response_schema),
        ):
            cls = find(key)
            for version in cls.__schema__.versions:
                name = f"{cls.__name__}-{version}"
                cases.append(pytest.param(cls, version, load, id=name))
    return cases


def values_kio_takes(name: str) -> st.SearchStrategy[Any] | None:
    if name == "error_code":
        return st.sampled_from([code.value for code in KioErrorCode])
    if name == "log_append_time_ms":  # kio cuts points in time to whole seconds
        return st.integers(0, 10**9).map(lambda seconds: seconds * 1000)
    if name.endswith("_ms"):
        return st.integers(0, 2**31 - 1)
    return None


@pytest.mark.parametrize(("cls", "version", "load"), _cases())
@given(data=st.data())
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_kio_reads_and_writes_the_same(
    cls: type[Message], version: int, load: Any, strategies_for: type, data: st.DataObject
) -> None:
    message = data.draw(strategies_for(values_kio_takes).of(cls, version))
    written = encode(message, version)
    theirs_type = load(cls.__schema__.key, version)
    theirs, size = entity_reader(theirs_type)(written, 0)
    assert size == len(written)
    assert plain_of_kio(theirs) == plain(message, version)
    assert decode(cls, version, memoryview(kio_bytes(theirs))) == message


def kio_bytes(entity: Any) -> bytes:
    class Buffer:
        def __init__(self) -> None:
            self.written = bytearray()

        def write(self, data: bytes) -> None:
            self.written += data

    buffer = Buffer()
    entity_writer(type(entity))(buffer, entity)
    return bytes(buffer.written)


def plain(value: Any, version: int) -> Any:
    if isinstance(value, Struct):
        return {
            name.removesuffix("_ms"): plain(getattr(value, name), version)
            for name, field in value.__schema__.fields.items()
            if version in field.versions
        }
    if isinstance(value, list):
        return [plain(item, version) for item in value]
    return None if value == ZERO_UUID else value


def kafka_name(name: str) -> str:
    """kio writes ``id_`` for a builtin's name, and takes words apart at other letters."""
    return name.rstrip("_").replace("k_raft", "kraft")


def plain_of_kio(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {
            kafka_name(field.name): plain_of_kio(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    match value:
        case tuple():
            return [plain_of_kio(item) for item in value]
        case timedelta():
            return round(value.total_seconds() * 1000)
        case datetime():
            return round(value.timestamp() * 1000)
        case UUID():
            return value.bytes
        case KioErrorCode():
            return value.value
        case _:
            return value
