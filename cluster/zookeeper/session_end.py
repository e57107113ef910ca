"""Ending a session that is somebody else's: ZooKeeper lets whoever has its id and password.

Neither is a secret to who can read. The id is the owner of the session's ephemeral nodes, and the
password follows from the id (ZooKeeperServer.generatePasswd: java.util.Random, seeded with the id
and a constant). So a broker's session is ended without a word of the broker's, whether it is ours
or Kafka's: take the session over on a connection of one's own, and close it.

Caveat: a server that has its passwords from elsewhere would refuse; none does from 3.4 to 3.9.
"""

from __future__ import annotations

import socket
import struct
import time

from logquake.cluster.errors import ClusterError
from logquake.cluster.zookeeper.probe import DEFAULT_PORT

ANSWER_TIMEOUT_S = 10.0
PASSWORD_BYTES = 16

_SECRET = 0xB3415C00
_CONNECT = struct.Struct(">iqiq")  # protocol version, last zxid seen, time-out, session
_CONNECTED = struct.Struct(">iiq")  # protocol version, time-out, session
_HEADER = struct.Struct(">ii")  # xid, type
_CLOSE_SESSION = -11
_TIMEOUT_MS = 10_000  # asked for of a session that is about to end
_LARGEST_ANSWER_BYTES = 1024

_JAVA_MULTIPLIER, _JAVA_INCREMENT, _JAVA_MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


def password_of(session_id: int) -> bytes:
    """As every server of ZooKeeper's gives it to the session with this id."""
    state = (session_id ^ _SECRET ^ _JAVA_MULTIPLIER) & _JAVA_MASK
    password = bytearray()
    while len(password) < PASSWORD_BYTES:
        state = (state * _JAVA_MULTIPLIER + _JAVA_INCREMENT) & _JAVA_MASK
        password += struct.pack("<I", state >> 16)
    return bytes(password)


def end_session(connect: str, session_id: int) -> bool:
    """Whether it lived until now; return when it is over. ``connect`` is as zookeeper.connect.

    Raises ClusterError where no server can be asked.
    """
    deadline = time.monotonic() + ANSWER_TIMEOUT_S
    while time.monotonic() < deadline:
        for host, port in _servers(connect):
            try:
                return _end(host, port, session_id)
            except OSError:
                continue  # or its owner has just taken it back
    raise ClusterError(f"no ZooKeeper server at {connect} ends the session 0x{session_id:x}")


def _servers(connect: str) -> list[tuple[str, int]]:
    servers, _, _ = connect.partition("/")
    split = [server.strip().partition(":") for server in servers.split(",")]
    return [(host, int(port or DEFAULT_PORT)) for host, _, port in split]


def _end(host: str, port: int, session_id: int) -> bool:
    """Raises OSError.

    Both requests leave at once: a client that has lost its connection by the first comes back, and
    must not find the session alive.
    """
    password = password_of(session_id)
    take_over = _CONNECT.pack(0, 0, _TIMEOUT_MS, _signed(session_id)) + _buffer(password) + b"\0"
    close = _HEADER.pack(1, _CLOSE_SESSION)
    with socket.create_connection((host, port), ANSWER_TIMEOUT_S) as connection:
        connection.sendall(_buffer(take_over) + _buffer(close))
        _, timeout_ms, _ = _CONNECTED.unpack_from(_read_frame(connection))
        if timeout_ms <= 0:
            return False
        _read_frame(connection)
    return True


def _read_frame(connection: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", _read(connection, 4))
    if not _CONNECTED.size <= size <= _LARGEST_ANSWER_BYTES:
        raise ConnectionError(f"no answer of ZooKeeper's: {size} bytes")
    return _read(connection, size)


def _read(connection: socket.socket, size: int) -> bytes:
    read = bytearray()
    while len(read) < size:
        piece = connection.recv(size - len(read))
        if not piece:
            raise ConnectionError("closed amid an answer")
        read += piece
    return bytes(read)


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _signed(number: int) -> int:
    """A session's id is a long of Java's."""
    return number - (1 << 64) if number >= 1 << 63 else number
