"""/consumers: the offsets of the oldest consumers (OffsetCommit 0), which a broker keeps for them.

Their data is the offset in digits, no JSON. Source: kafka.zk.ZkData.ConsumerOffset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.json_text import MalformedZnode

_DIGITS = re.compile(rb"[+-]?[0-9]{1,19}")
_NOT_IN_PATHS = re.compile("[\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")


@dataclass(frozen=True, slots=True)
class ConsumerOffset:
    offset: int

    @staticmethod
    def path(group: str, partition: TopicPartition) -> str:
        return f"/consumers/{group}/offsets/{partition.topic}/{partition.partition}"

    def encode(self) -> bytes:
        return str(self.offset).encode()

    @classmethod
    def decode(cls, data: bytes) -> ConsumerOffset:
        """Raises MalformedZnode."""
        if _DIGITS.fullmatch(data) is None or not -(2**63) <= int(data) < 2**63:
            raise MalformedZnode(f"{data[:40]!r} is no offset")
        return cls(int(data))


def is_valid_path(path: str) -> bool:
    """Whether ZooKeeper takes it (PathUtils.validatePath): a group's name may be anything."""
    parts = path.split("/")[1:]
    return not any(part in ("", ".", "..") for part in parts) and not _NOT_IN_PATHS.search(path)
