"""A blocking connection to one broker: negotiates versions, then one request at a time.

Any failure closes the connection: what comes after a time-out could be the late answer to an
earlier request. Whoever owns it opens another.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from logquake.client.clock import Clock
from logquake.client.errors import (
    ConnectionLostError,
    MalformedResponseError,
    RequestTimedOutError,
    UnsupportedVersionError,
    check,
)
from logquake.client.settings import Address, ClientSettings
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.schema import Message

R = TypeVar("R", bound=Message)
T = TypeVar("T")
B = TypeVar("B", bytes, memoryview)

_LENGTH = struct.Struct(">i")
_CORRELATION_AND_ERROR = struct.Struct(">ih")
_API_VERSIONS_WANTED = 3  # the first that names the client's software (KIP-511)
_SOFTWARE_VERSION = "0.1.0"


class Socket(Protocol):
    """What is asked of a socket; socket.socket is one."""

    def settimeout(self, timeout: float | None, /) -> None: ...
    def sendall(self, data: bytes, /) -> None: ...
    def recv_into(self, buffer: memoryview, /) -> int: ...
    def close(self) -> None: ...


Connect = Callable[[Address, float], Socket]


def tcp_connect(address: Address, timeout_s: float) -> Socket:
    connected = socket.create_connection(address, timeout_s)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


class Connection:
    """Raises ConnectionLostError and RequestTimedOutError from its constructor on."""

    def __init__(
        self, address: Address, settings: ClientSettings, clock: Clock, connect: Connect
    ) -> None:
        self.address = address
        self.is_open = True
        self._settings = settings
        self._clock = clock
        self._correlation_id = 0
        deadline_ms = clock.now_ms() + settings.request_timeout_ms
        try:
            self._socket = connect(address, settings.request_timeout_ms / 1000)
        except TimeoutError as error:
            raise RequestTimedOutError(f"no connection to {self.name} in time") from error
        except OSError as error:
            raise ConnectionLostError(f"no connection to {self.name}: {error}") from error
        self._versions = self._negotiate(deadline_ms)

    @property
    def name(self) -> str:
        return f"{self.address.host}:{self.address.port}"

    def version_of(self, request: type[Message], at_most: int | None = None) -> int:
        """The highest version that both sides speak. Raises UnsupportedVersionError."""
        versions = request.__schema__.versions
        key = cast(int, request.__schema__.key)
        lowest, highest = self._versions.get(key, (0, -1))
        version = min(highest, versions.last, at_most if at_most is not None else highest)
        if version < max(lowest, versions.first):
            raise UnsupportedVersionError(
                f"{self.name} speaks {request.__name__} {lowest} to {highest}, this client "
                f"{versions.first} to {versions.last if at_most is None else at_most}"
            )
        return version

    def request(
        self,
        message: Message,
        response: type[R],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
    ) -> R:
        """Send a request and wait for its response.

        `at_most` caps the version; `timeout_ms` replaces request_timeout_ms. Record fields of
        the response are views of a buffer that is nobody else's.
        Raises ConnectionLostError, RequestTimedOutError, MalformedResponseError or
        UnsupportedVersionError.
        """
        version = self.version_of(type(message), at_most)
        wait_ms = self._settings.request_timeout_ms if timeout_ms is None else timeout_ms
        return self._exchange(message, version, response, self._clock.now_ms() + wait_ms)

    def send(self, message: Message, *, at_most: int | None = None) -> None:
        """Send a request that is not answered: Produce with acks=0."""
        deadline_ms = self._clock.now_ms() + self._settings.request_timeout_ms
        self._write(message, self.version_of(type(message), at_most), deadline_ms)

    def close(self) -> None:
        self.is_open = False
        self._socket.close()

    def _exchange(self, message: Message, version: int, response: type[R], deadline_ms: int) -> R:
        self._write(message, version, deadline_ms)
        return self._decode(response, version, self._read_frame(deadline_ms))

    def _write(self, message: Message, version: int, deadline_ms: int) -> None:
        self._correlation_id += 1
        header = RequestHeader(
            cast(int, message.__schema__.key),
            version,
            self._correlation_id,
            self._settings.client_id,
        )
        # Every part is bytes-like here: a client's records are batches in memory.
        frame = b"".join(cast(list[bytes], encode_request(header, message)))
        self._on_socket(deadline_ms, self._socket.sendall, frame)

    def _decode(self, response: type[R], version: int, frame: memoryview) -> R:
        try:
            correlation_id, message = decode_response(response, version, frame)
        except ProtocolError as error:
            self.close()
            raise MalformedResponseError(f"{self.name}: {error}") from error
        if correlation_id != self._correlation_id:
            self.close()
            raise MalformedResponseError(
                f"{self.name} answered request {correlation_id} instead of {self._correlation_id}"
            )
        return message

    def _read_frame(self, deadline_ms: int) -> memoryview:
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline_ms))
        if not 0 < length <= self._settings.max_response_bytes:
            self.close()
            raise MalformedResponseError(f"{self.name} announced a response of {length} bytes")
        return self._read(length, deadline_ms)

    def _read(self, size: int, deadline_ms: int) -> memoryview:
        view = memoryview(bytearray(size))
        filled = 0
        while filled < size:
            count = self._on_socket(deadline_ms, self._socket.recv_into, view[filled:])
            if count == 0:
                self.close()
                raise ConnectionLostError(f"{self.name} closed the connection")
            filled += count
        return view

    def _on_socket(self, deadline_ms: int, act: Callable[[B], T], data: B) -> T:
        """Do it within what is left of the time, and say what went wrong in our words."""
        left_ms = deadline_ms - self._clock.now_ms()
        try:
            if left_ms <= 0:
                raise TimeoutError
            self._socket.settimeout(left_ms / 1000)
            return act(data)
        except TimeoutError as error:
            self.close()
            raise RequestTimedOutError(f"no answer from {self.name} in time") from error
        except OSError as error:
            self.close()
            raise ConnectionLostError(f"connection to {self.name} lost: {error}") from error
        except BaseException:  # Ctrl-C: what comes next would be taken for the next answer
            self.close()
            raise

    def _negotiate(self, deadline_ms: int) -> dict[int, tuple[int, int]]:
        """The broker's version range for each API key."""
        wanted = ApiVersionsRequest(
            client_software_name="logquake", client_software_version=_SOFTWARE_VERSION
        )
        self._write(wanted, _API_VERSIONS_WANTED, deadline_ms)
        frame = self._read_frame(deadline_ms)
        if _is_refused(frame):
            # A broker that does not know this version answers in version 0, whatever was asked.
            answer = self._exchange(ApiVersionsRequest(), 0, ApiVersionsResponse, deadline_ms)
        else:
            answer = self._decode(ApiVersionsResponse, _API_VERSIONS_WANTED, frame)
        check(answer.error_code, f"{ApiKey.API_VERSIONS.name} of {self.name}")
        return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}


def _is_refused(frame: memoryview) -> bool:
    if len(frame) < _CORRELATION_AND_ERROR.size:
        return False
    _, error_code = _CORRELATION_AND_ERROR.unpack_from(frame)
    return bool(error_code == ErrorCode.UNSUPPORTED_VERSION)
