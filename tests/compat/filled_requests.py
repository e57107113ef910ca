"""A request of every key and version about one topic, group or whatever it may be, named alike.

Every list has one element and every text is the name, unless a variant says otherwise; numbers are
what the schema has for default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from logquake.wire.api import ApiKey, request_type
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Struct
from logquake.wire.schema.fields import ArrayOf, Binary, FieldType, RecordData, StructOf, Text
from logquake.wire.uuids import ZERO_UUID

_BATCH = bytes(encode_batch([Record(0, 1_700_000_000_000, None, b"one", ())]))
_ACL = {"resource_type": 2, "resource_pattern_type": 3, "principal": "User:x", "host": "*"}
_ANY_ACL = {"resource_type_filter": 1, "pattern_type_filter": 3, "operation": 1}

Fields = Mapping[str, Any]

# What the name would spoil, and what is worth asking in several ways. A field counts wherever in
# the request it is.
VARIANTS: Mapping[ApiKey, list[Fields]] = {
    ApiKey.PRODUCE: [{"acks": 1, "timeout_ms": 1000, "transactional_id": None}],
    ApiKey.FETCH: [
        {"max_bytes": 1000, "partition_max_bytes": 1000, "forgotten_topics_data": [], **replica}
        for replica in ({"replica_id": -1}, {"replica_id": 7})
    ],
    ApiKey.LIST_OFFSETS: [{"replica_id": -1, "timestamp": -1, "max_num_offsets": 1}],
    ApiKey.METADATA: [
        {"topics": None, "allow_auto_topic_creation": True},
        {"topic_id": ZERO_UUID, "include_topic_authorized_operations": True},
        {"name": None},
        {"topic_id": ZERO_UUID, "include_cluster_authorized_operations": True},
    ],
    ApiKey.OFFSET_FOR_LEADER_EPOCH: [{"replica_id": -2, "leader_epoch": 0}],
    ApiKey.FIND_COORDINATOR: [{"key_type": kind} for kind in (0, 1, 2)],
    ApiKey.CREATE_TOPICS: [
        {"num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
    ],
    ApiKey.DELETE_TOPICS: [{"topic_id": ZERO_UUID}, {"name": None}],
    ApiKey.DELETE_RECORDS: [{"offset": -1, "timeout_ms": 1000}],
    ApiKey.INIT_PRODUCER_ID: [{"transaction_timeout_ms": 1000}],
    ApiKey.DESCRIBE_ACLS: [{**_ANY_ACL, "permission_type": 1}],
    ApiKey.CREATE_ACLS: [{**_ACL, "operation": 3, "permission_type": 3}],
    ApiKey.DELETE_ACLS: [{**_ANY_ACL, "permission_type": 1}],
    ApiKey.CREATE_PARTITIONS: [{"count": 3, "assignments": None}],
    ApiKey.DESCRIBE_CONFIGS: [{"resource_type": 2}, {"resource_type": 4, "resource_name": "1"}],
    ApiKey.ALTER_CONFIGS: [{"resource_type": 2}, {"resource_type": 4, "resource_name": "1"}],
    ApiKey.INCREMENTAL_ALTER_CONFIGS: [
        {"resource_type": 2},
        {"resource_type": 4, "resource_name": "1"},
    ],
    ApiKey.DESCRIBE_CLUSTER: [
        {"include_cluster_authorized_operations": True, "endpoint_type": 1},
    ],
    ApiKey.DESCRIBE_GROUPS: [{"include_authorized_operations": True}],
    ApiKey.ELECT_LEADERS: [{"election_type": 0}, {"topic_partitions": None}],
    ApiKey.ADD_PARTITIONS_TO_TXN: [{"producer_id": 1}],
}


def filled(
    key: ApiKey, version: int, name: str, topic_id: bytes, more: Sequence[Fields] = ()
) -> Iterator[Any]:
    """Each variant of the request, and ``more`` of them."""
    kind = request_type(key)
    assert kind is not None
    for variant in (*VARIANTS.get(key, [{}]), *more):
        yield _Filler(version, name, topic_id, variant).fill(kind)


class _Filler:
    def __init__(self, version: int, name: str, topic_id: bytes, variant: Fields) -> None:
        self._version = version
        self._name = name
        self._topic_id = topic_id
        self._variant = variant

    def fill(self, kind: type[Struct]) -> Any:
        there = {
            name: field
            for name, field in kind.__schema__.fields.items()
            if self._version in field.versions
        }
        made = kind()
        for name, field in there.items():
            if name not in self._variant:
                setattr(made, name, self._value(field.type, getattr(made, name)))
            elif self._variant[name] is not None or self._version in field.nullable:
                setattr(made, name, self._variant[name])
        return made

    def _value(self, kind: FieldType, default: Any) -> Any:
        match kind:
            case Text():
                return self._name
            case Binary():
                return b""
            case RecordData():
                return memoryview(bytearray(_BATCH))
            case ArrayOf(element=element):
                return [self._value(element, 0)]
            case StructOf(struct=struct):
                return self.fill(struct)
        return self._topic_id if kind.code == "16s" else default
