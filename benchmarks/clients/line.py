"""A connection that has one request in flight."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import NamedTuple, TypeVar, cast

from benchmarks.clients.driver import Readable, until
from benchmarks.errors import BenchmarkError
from logquake.wire.errors import error_name
from logquake.wire.header import (
    LENGTH_BYTES,
    RequestHeader,
    decode_response,
    encode_request,
)
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.schema import Message

R = TypeVar("R", bound=Message)

CLIENT_ID = "benchmark"
_CORRELATION_ID = 1  # of every request: answers that are the same are so byte for byte
_CONNECT_TIMEOUT_S = 10.0
_AT_ONCE = 1 << 16
_API_VERSIONS_VERSION = 3


class Address(NamedTuple):
    host: str
    port: int


class Line:
    """Raises BenchmarkError when the broker ends the connection."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def send(self, frame: bytes) -> None:
        """Requests are small: the kernel takes them whole."""
        self._socket.sendall(frame)

    async def answer(self) -> bytes:
        """The frame, without its length."""
        received = await self._receive()
        while len(received) < LENGTH_BYTES or len(received) < _size(received):
            received += await self._receive()
        return received[LENGTH_BYTES:]

    async def exchange(self, frame: bytes) -> bytes:
        self.send(frame)
        return await self.answer()

    async def ask(self, request: Message, response: type[R], version: int) -> R:
        frame = await self.exchange(request_frame(request, version))
        return decoded(frame, response, version)

    async def greet(self) -> None:
        """Until the broker has taken the connection and answers."""
        asked = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
        answer = await self.ask(asked, ApiVersionsResponse, _API_VERSIONS_VERSION)
        check(answer.error_code, "ApiVersions")

    def close(self) -> None:
        self._socket.close()

    async def _receive(self) -> bytes:
        await until(Readable(self._socket.fileno()))
        return self._read()

    def _read(self) -> bytes:
        received = self._socket.recv(_AT_ONCE)
        if not received:
            raise BenchmarkError("a broker closed a connection")
        return received


def connect(address: Address) -> socket.socket:
    """A socket that does not block. Raises BenchmarkError."""
    try:
        connected = socket.create_connection(address, _CONNECT_TIMEOUT_S)
    except OSError as error:
        raise BenchmarkError(f"no connection to {address.host}:{address.port}: {error}") from error
    with suppress(OSError):  # gone already: whoever reads will hear
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setblocking(False)
    return connected


def request_frame(request: Message, version: int) -> bytes:
    """With its length and header."""
    key = cast(int, request.__schema__.key)
    header = RequestHeader(key, version, _CORRELATION_ID, CLIENT_ID)
    return b"".join(cast(list[bytes], encode_request(header, request)))


def decoded(frame: bytes, response: type[R], version: int) -> R:
    return decode_response(response, version, frame)[1]


def check(error_code: int, what: str) -> None:
    """Raises BenchmarkError for any error."""
    if error_code:
        raise BenchmarkError(f"{what}: {error_name(error_code)}")


def _size(received: bytes) -> int:
    return LENGTH_BYTES + int.from_bytes(received[:LENGTH_BYTES], "big")
