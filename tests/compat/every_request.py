"""Every request in every version, of a broker that is alone, one after the other.

The answers of Kafka 3.9.1 are kept in tests/wire/vectors/answers-3.9.1.jsonl;
test_every_answer.py asks a Kafka again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import ApiVersion
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.group_admin import DescribeGroupsRequest
from logquake.wire.messages.transactions import InitProducerIdRequest
from logquake.wire.schema import Message, Struct
from tests.compat.filled_requests import Fields, filled

VECTORS = Path(__file__).parents[1] / "wire" / "vectors" / "answers-3.9.1.jsonl"
TOPIC, NOWHERE = "there", "nowhere"
NO_ANSWER = "the connection ends"
_A_DAY_MS = "86400000"
PROPERTIES = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "delete.topic.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    # No upkeep comes between a deletion of records and a look at what is left of their log.
    "log.initial.task.delay.ms": _A_DAY_MS,
    "log.retention.check.interval.ms": _A_DAY_MS,
    "log.retention.ms": "-1",
    "logquake.forwarding.enable": "false",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
"""What both are set to besides."""

LATER = (
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
)
"""Not served by ours."""

_BY_NATURE = (
    "cluster_id",
    "host",
    "last_timestamp",
    "log_dir",
    "port",
    "session_id",
    "timestamp",
    "topic_id",
    "total_bytes",
    "usable_bytes",
)
"""What two brokers answer differently because they are two."""


_CREATION = {"replication_factor": 1, "num_partitions": 1, "assignments": [], "configs": []}
_CREDENTIAL = {"mechanism": 1, "iterations": 4096, "salt": b"salt", "salted_password": b"salted"}
_MORE: Mapping[ApiKey, Sequence[Fields]] = {
    ApiKey.PRODUCE: [
        {"acks": acks, "timeout_ms": 1000, "transactional_id": None} for acks in (-1, 5)
    ],
    ApiKey.FETCH: [
        {"max_bytes": 1000, "replica_id": -1, "forgotten_topics_data": [], **where}
        for where in (
            {"fetch_offset": 10_000},
            {"current_leader_epoch": 9},
            {"session_id": 77, "session_epoch": 5},
            {"isolation_level": 1, "partition_max_bytes": 500},
        )
    ],
    ApiKey.LIST_OFFSETS: [
        {"replica_id": -1, "max_num_offsets": 3, "timestamp": timestamp, "isolation_level": 1}
        for timestamp in (-2, -3, -4, -5)
    ],
    ApiKey.OFFSET_FOR_LEADER_EPOCH: [
        {"replica_id": -1, "leader_epoch": 7, "current_leader_epoch": epoch} for epoch in (-1, 9)
    ],
    ApiKey.CREATE_TOPICS: [
        _CREATION | {"replication_factor": 3},
        _CREATION | {"num_partitions": -2},
        _CREATION | {"name": "not a name"},
        _CREATION | {"validate_only": True},
        {"num_partitions": 1, "replication_factor": 1, "configs": []},
    ],
    ApiKey.CREATE_PARTITIONS: [
        {"count": count, "assignments": None, "validate_only": True} for count in (0, 1, 2)
    ],
    ApiKey.DELETE_RECORDS: [{"offset": offset, "timeout_ms": 1000} for offset in (1, 10_000)],
    ApiKey.ALTER_REPLICA_LOG_DIRS: [{"path": "/nowhere/at/all"}],
    ApiKey.DESCRIBE_LOG_DIRS: [{"topics": None}],
    ApiKey.ELECT_LEADERS: [{"election_type": kind} for kind in (1, 9)],
    ApiKey.DESCRIBE_CONFIGS: [{"resource_type": kind} for kind in (0, 8, 77)],
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: [{"users": None}],
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: [
        {"deletions": []} | _CREDENTIAL,
        {"deletions": []} | _CREDENTIAL | {"iterations": 1},
        {"deletions": []} | _CREDENTIAL | {"mechanism": 7},
        {"upsertions": [], "mechanism": 1},
        {"upsertions": [], "mechanism": 2},
    ],
    ApiKey.UPDATE_FEATURES: [
        {"max_version_level": level, "upgrade_type": kind, "allow_downgrade": kind > 1}
        for level in (-1, 0, 1, 5)
        for kind in (0, 1, 2, 3, 9)
    ],
    ApiKey.DESCRIBE_CLUSTER: [{"endpoint_type": 2}, {"endpoint_type": 7}],
    ApiKey.INIT_PRODUCER_ID: [
        {"transaction_timeout_ms": timeout_ms} for timeout_ms in (0, 1_000_000_000)
    ],
    ApiKey.LIST_GROUPS: [{"states_filter": [], "types_filter": ["classic"]}],
    ApiKey.LIST_TRANSACTIONS: [{"state_filters": [], "producer_id_filters": []}],
}
"""What is not compared elsewhere, or as much as one request alone can show."""


@dataclass(frozen=True)
class Case:
    key: ApiKey
    version: int
    about: str
    variant: int
    request: Message

    @property
    def name(self) -> str:
        return f"{self.key.name} {self.version} {self.about} {self.variant}"


FIRST_ASKED: Sequence[tuple[Message, int]] = (
    (FindCoordinatorRequest(key=NOWHERE, key_type=0), 2),
    (FindCoordinatorRequest(key=NOWHERE, key_type=1), 2),
    (DescribeGroupsRequest(groups=[NOWHERE]), 0),
    (InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 1),
    (InitProducerIdRequest(transactional_id=NOWHERE, transaction_timeout_ms=1000), 1),
)
"""Each until it is answered without an error: then coordinators have read their logs."""


def is_answered(answer: Any) -> bool:
    code = answer.groups[0].error_code if hasattr(answer, "groups") else answer.error_code
    return bool(code == ErrorCode.NONE)


def cases(topic_id: bytes) -> Iterator[Case]:
    """In this order, of a broker that has the topic of that name and id, and serves all of them."""
    for key in sorted(ApiKey):
        kind = request_type(key)
        if kind is None or key in LATER:
            continue
        for version in kind.__schema__.versions:
            for name in (NOWHERE, TOPIC):
                more = _MORE.get(key, ())
                for at, request in enumerate(filled(key, version, name, topic_id, more)):
                    yield Case(key, version, name, at, request)


def plain(value: Any) -> Any:
    """Fit for JSON; lists in an order that does not depend on who made them."""
    if isinstance(value, Struct):
        return {
            field: plain(getattr(value, field))
            for field in type(value).__schema__.fields
            if field not in _BY_NATURE
        }
    if isinstance(value, list):
        return sorted(map(plain, filter(_is_served, value)), key=repr)
    if isinstance(value, memoryview | bytes):
        return bytes(value).hex()
    return value


def _is_served(element: Any) -> bool:
    return not isinstance(element, ApiVersion) or element.api_key not in LATER


def store(answers: Mapping[str, Any]) -> None:
    lines = [json.dumps({"case": name, "answer": answer}) for name, answer in answers.items()]
    VECTORS.write_text("\n".join(lines) + "\n")


def stored() -> dict[str, Any]:
    lines = (json.loads(line) for line in VECTORS.read_text().splitlines())
    return {line["case"]: line["answer"] for line in lines}


COMPARED_IN_DEPTH: Mapping[str, frozenset[ApiKey]] = {
    "old_frames.py": frozenset({ApiKey.PRODUCE, ApiKey.FETCH}),
    "test_offsets_before.py": frozenset({ApiKey.LIST_OFFSETS}),
    "test_listeners_beside_kafka.py": frozenset({ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER}),
    "test_growth_beside_kafka.py": frozenset({ApiKey.CREATE_PARTITIONS, ApiKey.ELECT_LEADERS}),
    "test_internal_topics.py": frozenset({ApiKey.FIND_COORDINATOR}),
    "test_group_answers_beside_kafka.py": frozenset(
        {
            ApiKey.JOIN_GROUP,
            ApiKey.SYNC_GROUP,
            ApiKey.HEARTBEAT,
            ApiKey.LEAVE_GROUP,
            ApiKey.DESCRIBE_GROUPS,
            ApiKey.LIST_GROUPS,
            ApiKey.DELETE_GROUPS,
            ApiKey.CONSUMER_GROUP_HEARTBEAT,
            ApiKey.CONSUMER_GROUP_DESCRIBE,
        }
    ),
    "test_offset_answers_beside_kafka.py": frozenset(
        {
            ApiKey.OFFSET_COMMIT,
            ApiKey.OFFSET_FETCH,
            ApiKey.OFFSET_DELETE,
            ApiKey.TXN_OFFSET_COMMIT,
        }
    ),
    "test_transaction_answers_beside_kafka.py": frozenset(
        {
            ApiKey.INIT_PRODUCER_ID,
            ApiKey.ADD_PARTITIONS_TO_TXN,
            ApiKey.ADD_OFFSETS_TO_TXN,
            ApiKey.END_TXN,
            ApiKey.DESCRIBE_TRANSACTIONS,
            ApiKey.LIST_TRANSACTIONS,
        }
    ),
    "test_transactions_beside_kafka.py": frozenset(
        {ApiKey.WRITE_TXN_MARKERS, ApiKey.DESCRIBE_PRODUCERS}
    ),
    "config_cases.py": frozenset(
        {ApiKey.DESCRIBE_CONFIGS, ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS}
    ),
    "quota_cases.py": frozenset({ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.ALTER_CLIENT_QUOTAS}),
    "test_acls_beside_kafka.py": frozenset(
        {ApiKey.DESCRIBE_ACLS, ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS}
    ),
    "test_sasl_beside_kafka.py": frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}),
}
"""Which module beside this one asks ours and a Kafka more about a key."""

_BETWEEN = "a Kafka in the same cluster sends and answers it: test_kafka_broker_joins.py"
_ALONE = "one request shows it whole"
COMPARED_ONCE: Mapping[ApiKey, str] = {
    ApiKey.LEADER_AND_ISR: _BETWEEN,
    ApiKey.STOP_REPLICA: _BETWEEN,
    ApiKey.UPDATE_METADATA: _BETWEEN,
    ApiKey.CONTROLLED_SHUTDOWN: _BETWEEN,
    ApiKey.ALTER_PARTITION: _BETWEEN,
    ApiKey.ALLOCATE_PRODUCER_IDS: _BETWEEN,
    ApiKey.ENVELOPE: "a Kafka sends it to ours: test_kafka_forwards.py",
    ApiKey.OFFSET_FOR_LEADER_EPOCH: "a Kafka follows ours by it: test_kafka_broker_joins.py",
    ApiKey.API_VERSIONS: _ALONE,
    ApiKey.CREATE_TOPICS: _ALONE,
    ApiKey.DELETE_TOPICS: _ALONE,
    ApiKey.DELETE_RECORDS: _ALONE,
    ApiKey.ALTER_REPLICA_LOG_DIRS: _ALONE,
    ApiKey.DESCRIBE_LOG_DIRS: _ALONE,
    ApiKey.CREATE_DELEGATION_TOKEN: "without a secret key; what else is of time and chance",
    ApiKey.RENEW_DELEGATION_TOKEN: "without a secret key; what else is of time and chance",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "without a secret key; what else is of time and chance",
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "without a secret key; what else is of time and chance",
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _ALONE,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _ALONE,
    ApiKey.UPDATE_FEATURES: _ALONE,
}
"""Why the other keys are compared here alone."""
