"""Becoming the controller: whoever creates /controller is it.

/controller is created and /controller_epoch moved on in one multi, the latter over the version
that was read (KafkaZkClient.registerControllerAndIncrementControllerEpoch). So every epoch has
one owner, and whoever owned the one before is fenced from that moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.controller.event_queue import ControllerMoved
from logquake.zk.operations import (
    Create,
    Delete,
    Exists,
    Failed,
    GetData,
    Multi,
    SetData,
    Stat,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, perform
from logquake.zk.znodes.control import (
    CONTROLLER_EPOCH_PATH,
    CONTROLLER_PATH,
    ControllerEpoch,
    ControllerNode,
    guarded,
)

NOBODY = -1
BEFORE_THE_FIRST = ControllerEpoch(0)


@dataclass(frozen=True, slots=True)
class Mandate:
    """An epoch won, and the version of /controller_epoch that stands for it."""

    epoch: int
    epoch_version: int


async def read_controller_id() -> int:
    """The broker in office, or NOBODY; its next change will be reported. Raises ZkFailure."""
    await perform(Exists(CONTROLLER_PATH, watch=True))
    outcome = await attempt(GetData(CONTROLLER_PATH, watch=True))
    if not isinstance(outcome, Failed):
        return ControllerNode.decode(outcome.data).broker_id
    if outcome.error is ZkError.NO_NODE:
        return NOBODY
    raise ZkFailure(outcome)


async def stand(broker_id: int, timestamp_ms: int) -> Mandate:
    """Try to be the next controller.

    Raises ControllerMoved if another was faster, ZkFailure if ZooKeeper cannot be asked.
    """
    current = await _read_epoch()
    wanted = ControllerEpoch(current.epoch + 1)
    outcome = await attempt(
        Multi(
            (
                Create(
                    CONTROLLER_PATH,
                    ControllerNode(broker_id, timestamp_ms).encode(),
                    ephemeral=True,
                ),
                SetData(CONTROLLER_EPOCH_PATH, wanted.encode(), current.epoch_version),
            )
        )
    )
    if isinstance(outcome, Failed):
        if outcome.error not in (ZkError.NODE_EXISTS, ZkError.BAD_VERSION):
            raise ZkFailure(outcome)
        return await _won_all_the_same(broker_id, wanted.epoch)
    written = outcome[1]
    if not isinstance(written, Stat):
        raise TypeError(f"a SetData was answered with {written!r}")
    return Mandate(wanted.epoch, written.version)


async def step_down(epoch_version: int) -> None:
    """Give the office up while the session lives on. Not there any more is no failure."""
    await attempt(guarded(epoch_version, Delete(CONTROLLER_PATH)))


async def _read_epoch() -> Mandate:
    outcome = await attempt(GetData(CONTROLLER_EPOCH_PATH))
    if isinstance(outcome, Failed):
        if outcome.error is not ZkError.NO_NODE:
            raise ZkFailure(outcome)
        made = await attempt(Create(CONTROLLER_EPOCH_PATH, BEFORE_THE_FIRST.encode()))
        if isinstance(made, Failed) and made.error is not ZkError.NODE_EXISTS:
            raise ZkFailure(made)
        outcome = await perform(GetData(CONTROLLER_EPOCH_PATH))
    return Mandate(ControllerEpoch.decode(outcome.data).epoch, outcome.stat.version)


async def _won_all_the_same(broker_id: int, epoch: int) -> Mandate:
    """The multi's answer may have been lost: then its repetition is refused by its own success."""
    in_office = await read_controller_id()
    current = await _read_epoch()
    if in_office != broker_id or current.epoch != epoch:
        raise ControllerMoved(f"broker {in_office} was elected in epoch {current.epoch}")
    return current
