"""Every message that kafka-python knows, in every version, read and written by kafka-python.

kafka-python 3 interprets Kafka's own definitions with a codec of its own. It speaks what clients
speak, and the versions that Kafka 4 still speaks. Unset ids are null to it, and sets of
authorized operations are sets of bits.
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest

from logquake.wire.schema import Message, Struct, decode, encode
from logquake.wire.schema.fields import ArrayOf, Field, FieldType, Scalar, StructOf
from logquake.wire.schema.message import default_value
from logquake.wire.schema.versions import NO_VERSIONS, Versions
from logquake.wire.uuids import ZERO_UUID
from tests.wire.samples import Chooser, Samples
from tests.wire.tables import COORDINATOR_RECORDS, MESSAGE_TYPES, PAIRS, pairs_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it reads its definitions the old way
    import kafka.protocol.admin
    import kafka.protocol.consumer
    import kafka.protocol.metadata
    import kafka.protocol.producer
    import kafka.protocol.sasl
    from kafka.protocol.data_container import DataContainer

# What brokers and coordinators say among themselves or keep, and delegation tokens.
LACKING = {
    "AllocateProducerIdsRequest",
    "AllocateProducerIdsResponse",
    "AlterPartitionRequest",
    "AlterPartitionResponse",
    "ConsumerGroupDescribeRequest",
    "ConsumerGroupDescribeResponse",
    "ConsumerGroupHeartbeatRequest",
    "ConsumerGroupHeartbeatResponse",
    "ControlledShutdownRequest",
    "ControlledShutdownResponse",
    "CreateDelegationTokenRequest",
    "CreateDelegationTokenResponse",
    "DefaultPrincipalData",
    "DescribeDelegationTokenRequest",
    "DescribeDelegationTokenResponse",
    "EnvelopeRequest",
    "EnvelopeResponse",
    "ExpireDelegationTokenRequest",
    "ExpireDelegationTokenResponse",
    "KRaftVersionRecord",
    "LeaderAndIsrRequest",
    "LeaderAndIsrResponse",
    "LeaderChangeMessage",
    "RenewDelegationTokenRequest",
    "RenewDelegationTokenResponse",
    "SnapshotFooterRecord",
    "SnapshotHeaderRecord",
    "StopReplicaRequest",
    "StopReplicaResponse",
    "UpdateMetadataRequest",
    "UpdateMetadataResponse",
    "VotersRecord",
}

# The versions of the others that Kafka 4 removed, and kafka-python with it.
REMOVED = {
    "AlterReplicaLogDirs": "0",
    "CreateAcls": "0",
    "CreateTopics": "0-1",
    "DeleteAcls": "0",
    "DeleteTopics": "0",
    "DescribeAcls": "0",
    "DescribeConfigs": "0",
    "DescribeLogDirs": "0",
    "Fetch": "0-3",
    "ListOffsets": "0",
    "OffsetCommit": "0-1",
    "OffsetFetch": "0",
    "OffsetForLeaderEpoch": "0-1",
    "Produce": "0-2",
    "WriteTxnMarkers": "0",
}

KNOWN = {
    name: cls for name, cls in MESSAGE_TYPES.items() if name not in LACKING | COORDINATOR_RECORDS
}
PROVEN = f"of {len(PAIRS)} (message, version) pairs agree with kafka-python"
NAMES_OF_OPERATIONS = {"cluster_authorized_operations", "topic_authorized_operations"}
NO_OPERATIONS = -(2**31)


def known_versions(cls: type[Message]) -> list[int]:
    stem = cls.__name__.removesuffix("Request").removesuffix("Response")
    removed = Versions.parse(REMOVED[stem]) if stem in REMOVED else NO_VERSIONS
    return [version for version in cls.__schema__.versions if version not in removed]


def values_kafka_python_takes(message: str, name: str) -> Chooser | None:
    if message == "ApiVersionsResponse" and name == "error_code":
        return lambda _: 0  # with an error it always reads version 0
    return None


@pytest.mark.parametrize("cls", KNOWN.values(), ids=KNOWN)
def test_kafka_python_reads_and_writes_the_same(
    cls: type[Message], record_property: Callable[[str, object], None]
) -> None:
    samples = Samples(cls.__name__, partial(values_kafka_python_takes, cls.__name__))
    theirs, proven = THEIRS[cls.__name__], set()
    for version in known_versions(cls):
        front = b"" if cls.__schema__.key is not None else version.to_bytes(2, "big")
        for message in samples.of(cls, version):
            written = front + encode(message, version)
            assert plain_of_theirs(theirs.decode(written, version=version)) == plain(
                message, version
            )
            theirs_written = bytes(made_of(theirs, message, version).encode(version=version))
            assert theirs_written == written
            assert decode(cls, version, theirs_written, len(front)) == message
        proven.add((cls.__name__, version))
    record_property(PROVEN, len(proven))


def test_what_kafka_python_lacks_is_what_is_listed() -> None:
    known = {pair for cls in KNOWN.values() for pair in pairs_of(cls)}
    proven = {(name, version) for name, cls in KNOWN.items() for version in known_versions(cls)}
    theirs = {
        (name, version)
        for name, cls in THEIRS.items()
        for version in Versions.parse(cls.json["validVersions"])
    }
    assert proven == PAIRS & theirs
    assert len(proven) == 438
    assert len(known - proven) == 2 * sum(len(list(Versions.parse(v))) for v in REMOVED.values())


def _their_classes(package: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(getattr(package, "__path__", [])):
        found |= _their_classes(import_module(f"{package.__name__}.{module.name}"))
    return found | {n: value for n, value in vars(package).items() if n in MESSAGE_TYPES}


THEIRS = {
    name: cls
    for package in (
        kafka.protocol.admin,
        kafka.protocol.consumer,
        kafka.protocol.metadata,
        kafka.protocol.producer,
        kafka.protocol.sasl,
    )
    for name, cls in _their_classes(package).items()
}


def made_of(theirs: Any, struct: Struct, version: int) -> Any:
    """Their object with the values of ours."""
    values = {}
    for name, field in struct.__schema__.fields.items():
        value = getattr(struct, name)
        if version in field.versions and not is_left_out(field, value):
            inner = getattr(theirs._struct.fields.get(name), "data_class", None)
            values[their_name(name)] = converted(name, field.type, value, inner, version)
    return theirs(version=version, **values)


def converted(name: str, kind: FieldType, value: Any, inner: Any, version: int) -> Any:
    match kind:
        case _ if value is None:
            return None
        case ArrayOf(element=element):
            return [converted(name, element, item, inner, version) for item in value]
        case StructOf():
            return made_of(inner, value, version)
        case Scalar(code="16s"):
            return UUID(bytes=value)
        case Scalar(code="i") if name.endswith("authorized_operations"):
            return operations(value)
    return value


def is_left_out(field: Field, value: Any) -> bool:
    """Tagged fields that are their defaults are not written."""
    return field.tag is not None and bool(value == default_value(field))


def their_name(name: str) -> str:
    return "authorized_operations" if name in NAMES_OF_OPERATIONS else name


def operations(bits: int) -> set[int] | None:
    return None if bits == NO_OPERATIONS else {bit for bit in range(32) if bits >> bit & 1}


def plain(struct: Struct, version: int) -> dict[str, Any]:
    return {
        their_name(name): plain_field(name, field, getattr(struct, name), version)
        for name, field in struct.__schema__.fields.items()
        if version in field.versions
    }


def plain_field(name: str, field: Field, value: Any, version: int) -> Any:
    if isinstance(field.type, StructOf) and is_left_out(field, value):
        return None
    return plain_value(name, field.type, value, version)


def plain_value(name: str, kind: FieldType, value: Any, version: int) -> Any:
    match kind:
        case _ if value is None or value == ZERO_UUID:
            return None
        case ArrayOf(element=element):
            return [plain_value(name, element, item, version) for item in value]
        case StructOf():
            return plain(value, version)
        case Scalar(code="i") if name.endswith("authorized_operations"):
            return operations(value)
    return value


def plain_of_theirs(value: Any) -> Any:
    match value:
        case DataContainer():
            return {
                name: plain_of_theirs(getattr(value, name))
                for name, field in value._struct.fields.items()
                if field.for_version_q(value.version)
            }
        case list() | tuple():
            return [plain_of_theirs(item) for item in value]
        case UUID():
            return value.bytes
        case memoryview() | bytearray():
            return bytes(value)
    return value
