"""The files of a server, and of several (org.apache.zookeeper.server.persistence.FileTxnLog).

A file begins with a header of 16 bytes; then comes, for each transaction, its Adler-32, its length,
its bytes and the letter B. Files are made longer ahead of time: what is not written yet is zeros.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from logquake.zk.applied import Applied
from logquake.zk.transaction_log.entries import read_entry
from logquake.zk.transaction_log.jute import MalformedEntry

_HEADER = struct.Struct(">4siq")  # magic, version, database id
_MAGIC, _VERSION = b"ZKLG", 2
_PREFIX = struct.Struct(">qi")  # checksum, length
_END_OF_RECORD = b"B"


class DamagedLogError(Exception):
    """A file of ZooKeeper's that cannot be read; says where and why."""


def read_log(data: bytes) -> Iterator[Applied]:
    """Every transaction of a file that took place, in order.

    Ends where a server that was killed, or that is at it now, has not written any further. Raises
    DamagedLogError for what is not a log, or is damaged amid it.
    """
    if len(data) < _HEADER.size or _HEADER.unpack_from(data)[:2] != (_MAGIC, _VERSION):
        if data.strip(b"\0"):
            raise DamagedLogError("not a transaction log of ZooKeeper's")
        return
    at = _HEADER.size
    while at + _PREFIX.size <= len(data):
        checksum, length = _PREFIX.unpack_from(data, at)
        begin, end = at + _PREFIX.size, at + _PREFIX.size + length
        entry = data[begin:end]
        is_whole = length > 0 and data[end : end + 1] == _END_OF_RECORD
        if not is_whole or zlib.adler32(entry) != checksum:
            if _is_torn(data, max(at, end)):
                return
            raise DamagedLogError(f"damaged at byte {at}")
        try:
            applied = read_entry(entry)
        except MalformedEntry as error:
            raise DamagedLogError(f"at byte {at}: {error}") from error
        if applied is not None:
            yield applied
        at = end + 1


def read_server(data_dir: Path) -> Iterator[Applied]:
    """Every transaction that a server knows of, by zxid: of its files below ``version-2``.

    Raises DamagedLogError, which names the file. One file at a time is in memory.
    """
    files = sorted((data_dir / "version-2").glob("log.*"), key=lambda f: int(f.suffix[1:], 16))
    for file in files:
        try:
            yield from read_log(file.read_bytes())
        except DamagedLogError as error:
            raise DamagedLogError(f"{file}: {error}") from error


def agreed(servers: Sequence[Sequence[Applied]]) -> list[Applied]:
    """What an ensemble has agreed upon, by zxid, of what each of its servers knows.

    What a majority knows has been agreed upon, and what a server knows before it whose log goes on
    with it, also where the others have that as a snapshot. But a server writes down a proposal
    before the others have it. Of what comes last nobody can say whether it was ever answered. And a
    deposed leader that is brought up to date by a snapshot keeps in its file what nobody else has
    agreed to: its log goes on only later. Both are left out.
    """
    known = Counter(applied.zxid for server in servers for applied in server)
    common = sorted(zxid for zxid, count in known.items() if 2 * count > len(servers))
    by_zxid: dict[int, Applied] = {}
    for server in servers:
        its_own = {applied.zxid for applied in server}
        for applied in server:
            at = bisect_left(common, applied.zxid)
            if at < len(common) and common[at] in its_own:
                by_zxid[applied.zxid] = applied
    return [by_zxid[zxid] for zxid in sorted(by_zxid)]


def _is_torn(data: bytes, end: int) -> bool:
    """Whether nothing was written behind an entry that is not whole."""
    return end >= len(data) or not data[end + 1 :].strip(b"\0")
