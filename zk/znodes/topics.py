"""/brokers/topics/T: which brokers hold which partition; .../partitions/P/state: who leads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import decode_uuid, encode_uuid
from logquake.zk.znodes.json_text import dump_json, int32, int32s, read_json
from logquake.zk.znodes.map_order import scala_order

TOPICS_PATH = "/brokers/topics"

Replicas = Mapping[int, tuple[int, ...]]  # partition -> broker ids


def partitions_path(topic: str) -> str:
    return f"{TOPICS_PATH}/{topic}/partitions"


def partition_path(topic: str, partition: int) -> str:
    return f"{partitions_path(topic)}/{partition}"


def partition_of_state(path: str) -> TopicPartition | None:
    """Whose state a path is; None for any other path."""
    match path.removeprefix(f"{TOPICS_PATH}/").split("/"):
        case [topic, "partitions", number, "state"] if path.startswith(TOPICS_PATH):
            return TopicPartition(topic, int(number))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class TopicAssignment:
    """The replicas of every partition, the preferred leader first.

    ``adding`` and ``removing`` hold the partitions under reassignment alone (KIP-455).
    ``topic_id`` is 16 bytes; None in topics made before Kafka 2.8 (KIP-516).
    """

    topic_id: bytes | None
    partitions: Replicas
    adding: Replicas = field(default_factory=dict)
    removing: Replicas = field(default_factory=dict)

    @staticmethod
    def path(topic: str) -> str:
        return f"{TOPICS_PATH}/{topic}"

    def encode(self) -> bytes:
        topic_id = {} if self.topic_id is None else {"topic_id": encode_uuid(self.topic_id)}
        return dump_json(
            {
                "partitions": _replicas_json(self.partitions),
                **topic_id,
                "adding_replicas": _replicas_json(self.adding),
                "removing_replicas": _replicas_json(self.removing),
                "version": 3,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> TopicAssignment:
        def build(value: dict[str, Any]) -> TopicAssignment:
            topic_id = value.get("topic_id")
            return cls(
                topic_id=None if topic_id is None else decode_uuid(topic_id),
                partitions=_parse_assigned(value["partitions"]),
                adding=_parse_replicas(value.get("adding_replicas", {})),
                removing=_parse_replicas(value.get("removing_replicas", {})),
            )

        return read_json(data, build)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Leader, ISR and the epochs under which they were decided.

    The znode's version is the partition epoch (KIP-497): a leader's AlterPartition names it.
    ``leader`` is NO_LEADER while no replica may lead. ``leader_recovery_state`` is 1 after an
    unclean election, until the leader says that it has recovered (KIP-704); 0 is not written.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    leader_recovery_state: int = 0

    @staticmethod
    def path(topic: str, partition: int) -> str:
        return f"{partition_path(topic, partition)}/state"

    def encode(self) -> bytes:
        recovery = self.leader_recovery_state
        return dump_json(
            {
                "controller_epoch": self.controller_epoch,
                "leader": self.leader,
                "version": 1,
                "leader_epoch": self.leader_epoch,
                "isr": list(self.isr),
                **({"leader_recovery_state": recovery} if recovery else {}),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> PartitionState:
        return read_json(
            data,
            lambda value: cls(
                leader=int32(value["leader"]),
                leader_epoch=int32(value["leader_epoch"]),
                isr=int32s(value["isr"]),
                controller_epoch=int32(value["controller_epoch"]),
                leader_recovery_state=_recovery_state(value.get("leader_recovery_state", 0)),
            ),
        )


def _recovery_state(value: object) -> int:
    if value not in (0, 1):
        raise ValueError(f"no leader recovery state: {value!r}")
    return int32(value)


def _replicas_json(replicas: Replicas) -> dict[str, list[int]]:
    """Only partitions that have replicas; Kafka leaves the empty ones out of adding, removing."""
    named = {str(partition): list(ids) for partition, ids in sorted(replicas.items()) if ids}
    return {partition: named[partition] for partition in scala_order(named)}


def _parse_assigned(value: dict[str, list[int]]) -> dict[int, tuple[int, ...]]:
    parsed = _parse_replicas(value)
    if not all(parsed.values()):
        raise ValueError("a partition without replicas")
    return parsed


def _parse_replicas(value: dict[str, list[int]]) -> dict[int, tuple[int, ...]]:
    parsed = {_partition_number(name): int32s(ids) for name, ids in value.items()}
    return dict(sorted(parsed.items()))


def _partition_number(name: str) -> int:
    number = int32(int(name))
    if number < 0:
        raise ValueError(f"no partition number: {name!r}")
    return number
