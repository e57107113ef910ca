"""Operations as kazoo's requests, and kazoo's results as their answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kazoo import exceptions
from kazoo.client import KazooClient
from kazoo.protocol import serialization
from kazoo.protocol.states import ZnodeStat
from kazoo.security import OPEN_ACL_UNSAFE

from logquake.zk.kazoo_watches import Watch
from logquake.zk.operations import (
    Check,
    Children,
    Create,
    Data,
    Delete,
    Exists,
    Failed,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
    Stat,
    Write,
    ZkError,
)
from logquake.zk.paths import path_of

_EPHEMERAL = 1
_SEQUENTIAL = 2

_ERRORS: dict[type[Exception], ZkError] = {
    exceptions.NoNodeError: ZkError.NO_NODE,
    exceptions.NodeExistsError: ZkError.NODE_EXISTS,
    exceptions.BadVersionError: ZkError.BAD_VERSION,
    exceptions.NotEmptyError: ZkError.NOT_EMPTY,
    exceptions.NoChildrenForEphemeralsError: ZkError.NO_CHILDREN_FOR_EPHEMERALS,
    exceptions.ConnectionLoss: ZkError.CONNECTION_LOSS,
    exceptions.ConnectionClosedError: ZkError.CONNECTION_LOSS,
    exceptions.SessionExpiredError: ZkError.SESSION_EXPIRED,
}

_NOT_THE_CAUSE = (exceptions.RolledBackError, exceptions.RuntimeInconsistency)


def to_request(operation: Operation[Any], chroot: str, watch: Watch | None) -> Any:
    """The request for an operation; the answer to it is read by answer_of."""
    match operation:
        case Multi(writes):
            return serialization.Transaction([_write_request(one, chroot) for one in writes])
        case Create() | Delete() | SetData() | Check():
            return _write_request(operation, chroot)
        case GetData(path):
            return serialization.GetData(rooted(chroot, path), watch)
        case Exists(path):
            return serialization.Exists(rooted(chroot, path), watch)
        case GetChildren(path):
            return serialization.GetChildren2(rooted(chroot, path), watch)
        case _:
            raise TypeError(f"{operation} cannot be asked of ZooKeeper")


def answer_of(operation: Operation[Any], result: Any, client: KazooClient) -> Any:
    """What kazoo's AsyncResult means for the operation: its answer or a Failed."""
    if not result.successful():
        return _failed(result.exception, path_of(operation))
    value = result.value
    match operation:
        case Multi(writes):
            return _multi_answer(writes, value)
        case Create():
            return client.unchroot(value)
        case GetData():
            return Data(value[0] or b"", _stat(value[1]))
        case GetChildren():
            return Children(tuple(sorted(value[0])), _stat(value[1]))
        case Exists() | SetData():
            return None if value is None else _stat(value)
        case _:
            return None


def rooted(chroot: str, path: str) -> str:
    """The path under the chroot, as ZooKeeper knows it."""
    return (chroot + path).removesuffix("/") or "/"


def _write_request(write: Write, chroot: str) -> Any:
    path = rooted(chroot, write.path)
    match write:
        case Create(_, data, ephemeral, sequential):
            flags = _EPHEMERAL * ephemeral | _SEQUENTIAL * sequential
            return serialization.Create(path, data, OPEN_ACL_UNSAFE, flags)
        case SetData(_, data, version):
            return serialization.SetData(path, data, version)
        case Delete(_, version):
            return serialization.Delete(path, version)
        case Check(_, version):
            return serialization.CheckVersion(path, version)


def _multi_answer(writes: Iterable[Write], results: list[Any]) -> Any:
    answers: list[Any] = []
    for write, result in zip(writes, results, strict=True):
        if isinstance(result, Exception):
            if not isinstance(result, _NOT_THE_CAUSE):
                return _failed(result, write.path)
        elif isinstance(result, ZnodeStat):
            answers.append(_stat(result))
        else:
            answers.append(result if isinstance(write, Create) else None)
    return tuple(answers)


def _failed(error: Exception, path: str) -> Failed:
    code = _ERRORS.get(type(error), ZkError.OTHER)
    return Failed(code, path, repr(error) if code is ZkError.OTHER else "")


def _stat(stat: ZnodeStat) -> Stat:
    return Stat(
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        version=stat.version,
        ephemeral_owner=stat.ephemeralOwner,
        num_children=stat.numChildren,
    )
