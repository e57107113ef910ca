"""One transaction's bytes: what it wrote (org.apache.zookeeper.txn, ZooDefs.OpCode).

A log tells what became of each write, not what was asked: a number is in a sequential node's path,
and a version is the one that came out. It is told here as the write that names the version before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from logquake.zk.applied import Applied
from logquake.zk.operations import Check, Create, Delete, SetData, Write
from logquake.zk.transaction_log.jute import JuteReader, MalformedEntry

_ERROR, _CLOSE_SESSION = -1, -11


def read_entry(data: bytes) -> Applied | None:
    """None for a transaction that was refused. Raises MalformedEntry."""
    reader = JuteReader(data)
    session_id, _, zxid, at_ms = reader.int64(), reader.int32(), reader.int64(), reader.int64()
    kind = reader.int32()
    read = _TRANSACTIONS.get(kind, partial(_single, kind))
    writes = read(reader)
    if writes is None:
        return None
    return Applied(zxid, session_id, writes, kind == _CLOSE_SESSION, at_ms)


def _refused(_: JuteReader) -> None:
    """Only the error is written down."""


def _opened(_: JuteReader) -> tuple[Write, ...]:
    """A session's time-out: nothing is written to the tree."""
    return ()


def _multi(reader: JuteReader) -> tuple[Write, ...] | None:
    """None where one of the writes was refused, and so all."""
    writes: list[Write] = []
    for _ in range(reader.count()):
        kind, data = reader.int32(), reader.buffer()
        if kind == _ERROR:
            return None
        writes += _single(kind, JuteReader(data or b""))
    return tuple(writes)


def _single(kind: int, reader: JuteReader) -> tuple[Write, ...]:
    try:
        read = _READERS[kind]
    except KeyError:
        raise MalformedEntry(f"no such transaction: type {kind}") from None
    write = read(reader)
    return () if write is None else (write,)


def _deleted_with_session(reader: JuteReader) -> tuple[Write, ...]:
    if reader.left == 0:  # before 3.6
        return ()
    return tuple(Delete(reader.text()) for _ in range(reader.count()))


def _create(reader: JuteReader) -> Write:
    path, data = reader.text(), reader.buffer()
    _skip_acl(reader)
    return Create(path, data, ephemeral=reader.flag())


def _create_lasting(reader: JuteReader) -> Write:
    """A container, or a node that goes when nobody has written to it for its time to live."""
    return Create(reader.text(), reader.buffer())


def _delete(reader: JuteReader) -> Write:
    return Delete(reader.text())


def _set_data(reader: JuteReader) -> Write:
    return SetData(reader.text(), reader.buffer(), reader.int32() - 1)


def _check(reader: JuteReader) -> Write:
    return Check(reader.text(), reader.int32() - 1)


def _nothing(_: JuteReader) -> None:
    """Who may read a node, or who is in the ensemble."""


def _skip_acl(reader: JuteReader) -> None:
    for _ in range(reader.count()):
        reader.int32(), reader.text(), reader.text()


_READERS: Mapping[int, Callable[[JuteReader], Write | None]] = {
    1: _create,
    2: _delete,
    5: _set_data,
    7: _nothing,  # setACL
    13: _check,
    15: _create,  # create2
    16: _nothing,  # reconfig
    19: _create_lasting,  # createContainer
    20: _delete,  # deleteContainer
    21: _create_lasting,  # createTTL
}

_TRANSACTIONS: Mapping[int, Callable[[JuteReader], tuple[Write, ...] | None]] = {
    _ERROR: _refused,
    -10: _opened,
    _CLOSE_SESSION: _deleted_with_session,
    14: _multi,
}
