"""Every message that kio knows, in every version, read and written by kio.

kio 0.5.0 was generated from Kafka's own definitions. Its values are typed more narrowly than the
wire (error codes, times, ids), so values are chosen from what it takes, and compared in plain form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer

from logquake.wire.schema import Message, Struct, decode, encode
from logquake.wire.uuids import ZERO_UUID
from tests.wire.samples import Chooser, Samples
from tests.wire.tables import COORDINATOR_RECORDS, MESSAGE_TYPES, PAIRS, pairs_of, snake_case

KNOWN = {name: cls for name, cls in MESSAGE_TYPES.items() if name not in COORDINATOR_RECORDS}
PROVEN = f"of {len(PAIRS)} (message, version) pairs agree with kio"

ERROR_CODES = [code.value for code in KioErrorCode]


def values_kio_takes(name: str) -> Chooser | None:
    if name.endswith("error_code"):
        return lambda random: random.choice(ERROR_CODES)
    if name.endswith("_ms"):
        return lambda random: random.choice([0, 1000 * random.randrange(2**31 // 1000)])
    return None


@pytest.mark.parametrize("cls", KNOWN.values(), ids=KNOWN)
def test_kio_reads_and_writes_the_same(
    cls: type[Message], record_property: Callable[[str, object], None]
) -> None:
    samples, proven = Samples(cls.__name__, values_kio_takes), set()
    for version in cls.__schema__.versions:
        theirs_type = kio_type(cls, version)
        for message in samples.of(cls, version):
            written = encode(message, version)
            theirs, size = entity_reader(theirs_type)(written, 0)
            assert size == len(written)
            assert plain_of_kio(theirs) == plain(message, version)
            assert kio_bytes(theirs) == written
            assert decode(cls, version, kio_bytes(theirs)) == message
        proven.add((cls.__name__, version))
    assert proven == set(pairs_of(cls))
    record_property(PROVEN, len(proven))


def test_kio_lacks_the_records_of_the_coordinators() -> None:
    assert sum(len(pairs_of(cls)) for cls in KNOWN.values()) == 587
    for name in COORDINATOR_RECORDS:
        with pytest.raises(ModuleNotFoundError):
            kio_type(MESSAGE_TYPES[name], MESSAGE_TYPES[name].__schema__.versions.first)


def kio_type(cls: type[Message], version: int) -> Any:
    key = cls.__schema__.key
    if key is None:
        package = snake_case(cls.__name__).replace("kraft", "k_raft")
        return getattr(import_module(f"kio.schema.{package}.v{version}.data"), cls.__name__)
    load = load_request_schema if cls.__name__.endswith("Request") else load_response_schema
    return load(key, version)


def kio_bytes(entity: Any) -> bytes:
    buffer = BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


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
    return name.rstrip("_").removesuffix("_ms").replace("k_raft", "kraft")


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
