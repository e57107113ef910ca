"""Logs as a ZooKeeper 3.9 server writes them, field by field."""

from __future__ import annotations

import struct
import zlib

import pytest

from logquake.zk.applied import Applied
from logquake.zk.operations import Check, Create, Delete, SetData
from logquake.zk.transaction_log.files import DamagedLogError, agreed, read_log

HEADER = b"ZKLG" + struct.pack(">iq", 2, 0)
ZEROS = bytes(64)
SESSION, AT_MS = 0x1000002D371, 1_700_000_000_000

# A session opened and a node made, as a server wrote them.
WRITTEN = bytes.fromhex(
    "5a4b4c47000000020000000000000000"
    "00000000c6b90a6f00000030010002d37101000000000000000000000000000100"
    "0001a205b19d8efffffff600001f40000000020000000051c6d66042"
    "0000000039cf131e0000005e010002d3710100000000000100000000000000030000"
    "01a205b19d9c000000010000000a2f636f6e73756d657273ffffffff000000010000"
    "001f00000005776f726c6400000006616e796f6e6500000000010000000200000001"
    "5c767bfc42"
)


def text(value: str) -> bytes:
    return buffer(value.encode())


def buffer(value: bytes | None) -> bytes:
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


ACL = struct.pack(">ii", 1, 31) + text("world") + text("anyone")


def created(path: str, data: bytes | None, *, ephemeral: bool = False) -> bytes:
    return text(path) + buffer(data) + ACL + bytes([ephemeral]) + struct.pack(">i", 1)


def entry(zxid: int, kind: int, body: bytes) -> bytes:
    """One transaction, as it stands in the file."""
    whole = struct.pack(">qiqqi", SESSION, 7, zxid, AT_MS, kind) + body
    return struct.pack(">qi", zlib.adler32(whole), len(whole)) + whole + b"B"


def multi(*writes: tuple[int, bytes]) -> bytes:
    parts = b"".join(struct.pack(">i", kind) + buffer(body) for kind, body in writes)
    return struct.pack(">i", len(writes)) + parts


def read(*entries: bytes) -> list[Applied]:
    return list(read_log(HEADER + b"".join(entries) + ZEROS))


def test_what_a_server_wrote_is_read() -> None:
    assert list(read_log(WRITTEN)) == [
        Applied(1, 0x10002D371010000, (), at_ms=1795391856014),
        Applied(3, 0x10002D371010000, (Create("/consumers"),), at_ms=1795391856028),
    ]


@pytest.mark.parametrize(
    ("kind", "body", "write"),
    [
        (1, created("/a", b"x"), Create("/a", b"x")),
        (15, created("/a", None, ephemeral=True), Create("/a", None, ephemeral=True)),
        (19, text("/a") + buffer(b"x") + ACL + struct.pack(">i", 1), Create("/a", b"x")),
        (21, text("/a") + buffer(b"x") + ACL + struct.pack(">iq", 1, 500), Create("/a", b"x")),
        (2, text("/a"), Delete("/a")),
        (20, text("/a"), Delete("/a")),
        (5, text("/a") + buffer(b"x") + struct.pack(">i", 4), SetData("/a", b"x", 3)),
    ],
)
def test_each_kind_of_write(kind: int, body: bytes, write: Create | Delete | SetData) -> None:
    assert read(entry(9, kind, body)) == [Applied(9, SESSION, (write,), at_ms=AT_MS)]


def test_a_multi_is_one_transaction() -> None:
    body = multi((13, text("/e") + struct.pack(">i", 2)), (1, created("/a", b"")), (2, text("/b")))
    (applied,) = read(entry(5, 14, body))
    assert applied.writes == (Check("/e", 1), Create("/a", b""), Delete("/b"))


def test_what_was_refused_is_left_out() -> None:
    refused = struct.pack(">i", -101)
    body = multi((1, created("/a", b"")), (-1, refused))
    assert read(entry(5, 14, body), entry(6, -1, refused)) == []


def test_who_reads_a_node_is_no_write() -> None:
    assert read(entry(5, 7, text("/a") + ACL + struct.pack(">i", 1)))[0].writes == ()


def test_the_end_of_a_session_deletes_its_nodes() -> None:
    body = struct.pack(">i", 2) + text("/a") + text("/b")
    (applied,) = read(entry(5, -11, body))
    assert (applied.writes, applied.closed) == ((Delete("/a"), Delete("/b")), True)
    assert read(entry(5, -11, b""))[0].closed  # before 3.6


def test_a_log_ends_where_it_was_not_written_further() -> None:
    whole, torn = entry(5, 2, text("/a")), entry(6, 2, text("/b"))
    for size in range(len(torn)):
        for rest in (b"", ZEROS):
            assert [a.zxid for a in read_log(HEADER + whole + torn[:size] + rest)] == [5]
    assert list(read_log(b"")) == list(read_log(ZEROS)) == []


def test_damage_amid_a_log_is_told() -> None:
    first, second = entry(5, 2, text("/a")), entry(6, 2, text("/b"))
    for at in (14, len(first) - 5, len(first) - 1):  # in the length's range, the path, the mark
        damaged = bytearray(first)
        damaged[at] ^= 0x55
        with pytest.raises(DamagedLogError, match="at byte 16"):
            list(read_log(HEADER + bytes(damaged) + second))
    with pytest.raises(DamagedLogError, match="not a transaction log"):
        list(read_log(b"another file, by the look of it"))


@pytest.mark.parametrize(
    "body",
    [b"", struct.pack(">i", 1 << 30), struct.pack(">i", -5), struct.pack(">i", 2) + b"\xff\xfe"],
)
@pytest.mark.parametrize("kind", [1, 2, 5, 13, 99])
def test_nonsense_with_a_right_checksum_is_told(kind: int, body: bytes) -> None:
    with pytest.raises(DamagedLogError, match="at byte 16"):
        read(entry(5, kind, body))


def known(*zxids: int) -> list[Applied]:
    return [Applied(zxid, 1, ()) for zxid in zxids]


def test_an_ensemble_agreed_on_what_lies_before_what_a_majority_knows() -> None:
    servers = known(1, 2, 3, 4, 9), known(1, 4), known(1, 2, 3, 5, 6)
    assert [a.zxid for a in agreed(servers)] == [1, 2, 3, 4]
    assert [a.zxid for a in agreed([known(1, 2)])] == [1, 2]


def test_an_ensemble_did_not_agree_on_what_a_deposed_leader_kept_beside_a_snapshot() -> None:
    servers = known(1, 2, 9), known(1, 7, 8, 9), known(1, 7, 8, 9)
    assert [a.zxid for a in agreed(servers)] == [1, 7, 8, 9]
