"""Znodes of the whole cluster: its id, its finalised features, the last block of producer ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from logquake.zk.znodes.json_text import dump_json, int32, read_json

CLUSTER_PATH = "/cluster"
PRODUCER_ID_BLOCK_SIZE = 1000  # ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE


@dataclass(frozen=True, slots=True)
class ClusterId:
    """22 characters of base64url, written once by the first broker."""

    cluster_id: str

    @staticmethod
    def path() -> str:
        return f"{CLUSTER_PATH}/id"

    def encode(self) -> bytes:
        return dump_json({"version": "1", "id": self.cluster_id})

    @classmethod
    def decode(cls, data: bytes) -> ClusterId:
        return read_json(data, lambda value: cls(str(value["id"])))


@dataclass(frozen=True, slots=True)
class Features:
    """Finalised feature levels (KIP-584, version 2 of the data); none in ZooKeeper mode."""

    levels: Mapping[str, int] = field(default_factory=dict)
    enabled: bool = True

    @staticmethod
    def path() -> str:
        return "/feature"

    def encode(self) -> bytes:
        features = {name: {"max_version_level": level} for name, level in self.levels.items()}
        return dump_json({"features": features, "version": 2, "status": int(self.enabled)})

    @classmethod
    def decode(cls, data: bytes) -> Features:
        def build(value: dict[str, Any]) -> Features:
            features = value.get("features", {})
            levels = {name: int(one["max_version_level"]) for name, one in features.items()}
            return cls(levels, bool(value["status"]))

        return read_json(data, build)


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """The newest block given away; both ends are in it. The znode is empty before the first."""

    broker_id: int
    first: int
    last: int

    @staticmethod
    def path() -> str:
        return "/latest_producer_id_block"

    @classmethod
    def following(cls, previous: ProducerIdBlock | None, broker_id: int) -> ProducerIdBlock:
        first = 0 if previous is None else previous.last + 1
        return cls(broker_id, first, first + PRODUCER_ID_BLOCK_SIZE - 1)

    def encode(self) -> bytes:
        return dump_json(
            {
                "version": 1,
                "broker": self.broker_id,
                "block_start": str(self.first),
                "block_end": str(self.last),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> ProducerIdBlock:
        return read_json(
            data,
            lambda value: cls(
                broker_id=int32(value["broker"]),
                first=int(value["block_start"]),
                last=int(value["block_end"]),
            ),
        )
