"""/controller and /controller_epoch: who decides, and the fence around what it writes.

Every write of a controller goes with a check of /controller_epoch's version (KAFKA-6082): a
controller that was replaced without knowing has its writes refused by ZooKeeper itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.zk.operations import Check, Multi, Write
from logquake.zk.znodes.json_text import MalformedZnode, dump_json, int32, read_json

CONTROLLER_PATH = "/controller"
CONTROLLER_EPOCH_PATH = "/controller_epoch"


@dataclass(frozen=True, slots=True)
class ControllerNode:
    """The ephemeral /controller. A KRaft epoch of -1 says that no migration is going on."""

    broker_id: int
    timestamp_ms: int
    kraft_controller_epoch: int = -1

    @staticmethod
    def path() -> str:
        return CONTROLLER_PATH

    def encode(self) -> bytes:
        return dump_json(
            {
                "version": 2,
                "brokerid": self.broker_id,
                "timestamp": str(self.timestamp_ms),
                "kraftControllerEpoch": self.kraft_controller_epoch,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> ControllerNode:
        return read_json(
            data,
            lambda value: cls(
                broker_id=int32(value["brokerid"]),
                timestamp_ms=int(value.get("timestamp", -1)),
                kraft_controller_epoch=int(value.get("kraftControllerEpoch", -1)),
            ),
        )


@dataclass(frozen=True, slots=True)
class ControllerEpoch:
    """The persistent /controller_epoch: a bare decimal number. The first controller has 1."""

    epoch: int

    @staticmethod
    def path() -> str:
        return CONTROLLER_EPOCH_PATH

    def encode(self) -> bytes:
        return str(self.epoch).encode()

    @classmethod
    def decode(cls, data: bytes) -> ControllerEpoch:
        try:
            return cls(int32(int(data)))
        except ValueError as error:
            raise MalformedZnode(f"controller epoch {data[:200]!r}") from error


def guarded(epoch_zk_version: int, *writes: Write) -> Multi:
    """The writes, if /controller_epoch still has that version.

    Its answers begin with the check's None. A controller that was replaced gets BAD_VERSION on
    CONTROLLER_EPOCH_PATH.
    """
    return Multi((Check(CONTROLLER_EPOCH_PATH, epoch_zk_version), *writes))
