"""Becoming the controller: whoever creates /controller is it, or takes it over.

/controller is created and /controller_epoch moved on in one multi, the latter over the version
that was read (KafkaZkClient.registerControllerAndIncrementControllerEpoch). So every epoch has
one owner, and whoever owned the one before is fenced from that moment.

take_over() does not wait until /controller is gone: it deletes it in the same multi. Of several
who try only one finds the version of the epoch that it read, so there is one winner. Whoever was
in office is fenced by the epoch if it is alive after all: ZooKeeper refuses its writes, brokers its
requests, and its watch tells it that another one is in office. Its session is nobody's to end: it
expires by itself, and has nothing at /controller any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.controller.zookeeper.guarded_zk import ControllerMoved
from logquake.wire.sentinels import NO_CONTROLLER
from logquake.zk.operations import (
    Create,
    Data,
    Delete,
    Exists,
    Failed,
    GetData,
    Multi,
    SetData,
    Stat,
    Write,
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
from logquake.zk.znodes.json_text import MalformedZnode

BEFORE_THE_FIRST = ControllerEpoch(0)


@dataclass(frozen=True, slots=True)
class Mandate:
    """An epoch won, and the version of /controller_epoch that stands for it."""

    epoch: int
    epoch_version: int


@dataclass(frozen=True, slots=True)
class Incumbent:
    """Who holds /controller. ``czxid`` tells this tenure from any other of the same broker."""

    broker_id: int
    czxid: int
    session_id: int


VACANT = Incumbent(NO_CONTROLLER, -1, 0)


async def read_incumbent() -> Incumbent:
    """Who is in office, or VACANT; its next change will be reported. Raises ZkFailure."""
    await perform(Exists(CONTROLLER_PATH, watch=True))
    return await _read_incumbent(watch=True)


async def stand(broker_id: int, timestamp_ms: int) -> Mandate:
    """Try to be the next controller.

    Raises ControllerMoved if another was faster, ZkFailure if ZooKeeper cannot be asked, and
    MalformedZnode while /controller_epoch makes no sense, whose next change will be reported.
    """
    return await _win(broker_id, timestamp_ms, await _read_epoch())


async def take_over(incumbent: Incumbent, broker_id: int, timestamp_ms: int) -> Mandate:
    """Be the next controller in place of one that is gone while its session lives on.

    Raises ControllerMoved if it is not in office any more, or another was faster; ZkFailure if
    ZooKeeper cannot be asked.
    """
    # In this order: /controller never changes hands but with the epoch, so if it is the
    # incumbent's after the epoch was read, it is as long as the epoch has that version.
    current = await _read_epoch()
    found = await _read_incumbent(watch=False)
    if found != incumbent:
        raise ControllerMoved(f"broker {found.broker_id} is in office")
    return await _win(broker_id, timestamp_ms, current, Delete(CONTROLLER_PATH))


async def _win(broker_id: int, timestamp_ms: int, current: Mandate, *first: Write) -> Mandate:
    """Create /controller and move the epoch on, after the ``first`` writes, all in one."""
    wanted = ControllerEpoch(current.epoch + 1)
    node = ControllerNode(broker_id, timestamp_ms).encode()
    create = Create(CONTROLLER_PATH, node, ephemeral=True)
    move_on = SetData(CONTROLLER_EPOCH_PATH, wanted.encode(), current.epoch_version)
    outcome = await attempt(Multi((*first, create, move_on)))
    if isinstance(outcome, Failed):
        if outcome.error not in (ZkError.NODE_EXISTS, ZkError.BAD_VERSION, ZkError.NO_NODE):
            raise ZkFailure(outcome)
        return await _won_all_the_same(broker_id, wanted.epoch)
    written = outcome[-1]
    if not isinstance(written, Stat):
        raise TypeError(f"a SetData was answered with {written!r}")
    return Mandate(wanted.epoch, written.version)


async def step_down(epoch_version: int) -> None:
    """Give the office up while the session lives on. Not there any more is no failure."""
    await attempt(guarded(epoch_version, Delete(CONTROLLER_PATH)))


async def _read_incumbent(*, watch: bool) -> Incumbent:
    outcome = await attempt(GetData(CONTROLLER_PATH, watch=watch))
    if not isinstance(outcome, Failed):
        broker_id = ControllerNode.decode(outcome.data).broker_id
        return Incumbent(broker_id, outcome.stat.czxid, outcome.stat.ephemeral_owner)
    if outcome.error is ZkError.NO_NODE:
        return VACANT
    raise ZkFailure(outcome)


async def _read_epoch() -> Mandate:
    """Of one that makes no sense the next change will be reported.

    Raises MalformedZnode, ZkFailure.
    """
    try:
        return await _read_or_make_epoch()
    except MalformedZnode:
        return _mandate(await perform(GetData(CONTROLLER_EPOCH_PATH, watch=True)))


async def _read_or_make_epoch() -> Mandate:
    outcome = await attempt(GetData(CONTROLLER_EPOCH_PATH))
    if isinstance(outcome, Failed):
        if outcome.error is not ZkError.NO_NODE:
            raise ZkFailure(outcome)
        made = await attempt(Create(CONTROLLER_EPOCH_PATH, BEFORE_THE_FIRST.encode()))
        if isinstance(made, Failed) and made.error is not ZkError.NODE_EXISTS:
            raise ZkFailure(made)
        outcome = await perform(GetData(CONTROLLER_EPOCH_PATH))
    return _mandate(outcome)


def _mandate(read: Data) -> Mandate:
    return Mandate(ControllerEpoch.decode(read.data).epoch, read.stat.version)


async def _won_all_the_same(broker_id: int, epoch: int) -> Mandate:
    """The multi's answer may have been lost: then its repetition is refused by its own success."""
    in_office = await read_incumbent()
    current = await _read_epoch()
    if in_office.broker_id != broker_id or current.epoch != epoch:
        raise ControllerMoved(f"broker {in_office.broker_id} was elected in epoch {current.epoch}")
    return current
