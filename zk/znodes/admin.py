"""Znodes by which something is asked of the controller, or told to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.json_text import dump_json, int32, read_json

DELETE_TOPICS_PATH = "/admin/delete_topics"
ISR_CHANGE_PATH = "/isr_change_notification"
LOG_DIR_EVENT_PATH = "/log_dir_event_notification"
LOG_DIR_FAILURE = 1


def delete_topic_path(topic: str) -> str:
    """An empty znode: the topic is to be deleted."""
    return f"{DELETE_TOPICS_PATH}/{topic}"


@dataclass(frozen=True, slots=True)
class PreferredReplicaElection:
    """Partitions whose preferred leader is to be elected (older tools); gone when done."""

    partitions: tuple[TopicPartition, ...]

    @staticmethod
    def path() -> str:
        return "/admin/preferred_replica_election"

    def encode(self) -> bytes:
        return dump_json({"version": 1, "partitions": _partitions_json(self.partitions)})

    @classmethod
    def decode(cls, data: bytes) -> PreferredReplicaElection:
        return read_json(data, lambda value: cls(_parse_partitions(value["partitions"])))


@dataclass(frozen=True, slots=True)
class ReassignPartitions:
    """Target replicas of partitions (older tools; newer ones ask by request, KIP-455)."""

    replicas: Mapping[TopicPartition, tuple[int, ...]]

    @staticmethod
    def path() -> str:
        return "/admin/reassign_partitions"

    def encode(self) -> bytes:
        partitions = [
            {"topic": topic, "partition": partition, "replicas": list(replicas)}
            for (topic, partition), replicas in self.replicas.items()
        ]
        return dump_json({"version": 1, "partitions": partitions})

    @classmethod
    def decode(cls, data: bytes) -> ReassignPartitions:
        def build(value: dict[str, Any]) -> ReassignPartitions:
            return cls(
                {
                    TopicPartition(str(one["topic"]), int(one["partition"])): tuple(
                        map(int, one["replicas"])
                    )
                    for one in value["partitions"]
                }
            )

        return read_json(data, build)


@dataclass(frozen=True, slots=True)
class IsrChange:
    """Partitions whose ISR a leader wrote itself: only brokers before AlterPartition do so."""

    partitions: tuple[TopicPartition, ...]

    @staticmethod
    def path() -> str:
        """To create sequentially at."""
        return f"{ISR_CHANGE_PATH}/isr_change_"

    def encode(self) -> bytes:
        return dump_json({"version": 1, "partitions": _partitions_json(self.partitions)})

    @classmethod
    def decode(cls, data: bytes) -> IsrChange:
        return read_json(data, lambda value: cls(_parse_partitions(value["partitions"])))


@dataclass(frozen=True, slots=True)
class LogDirFailure:
    """A broker lost a log directory (KIP-112)."""

    broker_id: int

    @staticmethod
    def path() -> str:
        """To create sequentially at."""
        return f"{LOG_DIR_EVENT_PATH}/log_dir_event_"

    def encode(self) -> bytes:
        return dump_json({"version": 1, "broker": self.broker_id, "event": LOG_DIR_FAILURE})

    @classmethod
    def decode(cls, data: bytes) -> LogDirFailure:
        return read_json(data, lambda value: cls(int32(value["broker"])))


def _partitions_json(partitions: tuple[TopicPartition, ...]) -> list[dict[str, Any]]:
    return [{"topic": topic, "partition": partition} for topic, partition in partitions]


def _parse_partitions(value: list[dict[str, Any]]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(str(one["topic"]), int(one["partition"])) for one in value)
