"""A server and its clients in one thread: the test drives the loop, pass by pass."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType

import pytest

from logquake.node.net.acceptor import Acceptor
from logquake.node.net.admittance import Admittances
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.listener import bind_listener
from logquake.node.net.loop import EventLoop
from logquake.node.net.processor import Processor
from logquake.node.net.quotas import ConnectionQuotas
from logquake.node.quotas.client_quotas import RateQuota
from logquake.node.quotas.measures import Windows
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey, response_type
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.listeners import ListenerName
from logquake.wire.schema import Message
from tests.doubles.clock import ManualClock
from tests.doubles.journal import MemoryJournal
from tests.parts import joined

SERVED: dict[int, range] = {
    ApiKey.PRODUCE: range(3, 12),
    ApiKey.FETCH: range(4, 18),
    ApiKey.METADATA: range(13),
    ApiKey.API_VERSIONS: range(5),
    ApiKey.SASL_AUTHENTICATE: range(3),
}
CLIENTS, INTERNAL = ListenerName("CLIENTS"), ListenerName("INTERNAL")
_MAX_PASSES = 2_000
_BUSY = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Handler:
    """Keeps what arrives; answers it at once while ``answer`` is set.

    Lets Produce follow Produce, unless it is told otherwise.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.ends_of_pass = 0
        self.answer: Callable[[Request], Message | None] | None = None
        self.lets_follow: Callable[[Request], bool] = _is_produce
        self.on_request: Callable[[Request], None] = lambda _: None
        self.on_end_of_pass: Callable[[], None] = lambda: None

    @property
    def correlation_ids(self) -> list[int]:
        return [request.header.correlation_id for request in self.requests]

    @property
    def served(self) -> Mapping[int, range]:
        return SERVED

    def handle(self, request: Request) -> None:
        self.requests.append(request)
        request.next_may_follow = self.lets_follow(request)
        self.on_request(request)
        if self.answer is not None:
            request.reply(self.answer(request))

    def end_of_pass(self) -> None:
        self.ends_of_pass += 1
        self.on_end_of_pass()


def _is_produce(request: Request) -> bool:
    return request.header.api_key == ApiKey.PRODUCE


class Client:
    """A non-blocking client; what it waits for, it waits for by driving the server's loop."""

    def __init__(self, server: Server, port: int, receive_buffer_bytes: int | None = None) -> None:
        self._server = server
        self.socket = socket.socket()
        if receive_buffer_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)
        self._received = bytearray()

    def send(self, request: Message, version: int, correlation_id: int) -> None:
        self.send_raw(self.encode(request, version, correlation_id))

    def encode(self, request: Message, version: int, correlation_id: int) -> bytes:
        key = type(request).__schema__.key
        assert key is not None
        header = RequestHeader(key, version, correlation_id, "test")
        return joined(encode_request(header, request))

    def send_raw(self, content: bytes) -> None:
        left = memoryview(content)

        def sent() -> bool:
            nonlocal left
            with contextlib.suppress(*_BUSY):
                left = left[self.socket.send(left) :]
            return not left

        self._server.until(sent)

    def receive(self, size: int) -> bytes:
        self._server.until(lambda: self._fill() and len(self._received) >= size)
        content = bytes(self._received[:size])
        del self._received[:size]
        return content

    def receive_frame(self) -> bytes:
        return self.receive(int.from_bytes(self.receive(4)))

    def receive_response(self, key: ApiKey, version: int) -> tuple[int, Message]:
        response = response_type(key)
        assert response is not None
        return decode_response(response, version, memoryview(self.receive_frame()))

    def is_closed(self) -> bool:
        """Whether the server closed the connection and all that it sent was received."""
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True

    def reset(self) -> None:
        """Go without a farewell: the server's side of the connection is gone at once."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def has_bytes(self) -> bool:
        return bool(self._received) or (self._fill() and bool(self._received))

    def _fill(self) -> bool:
        with contextlib.suppress(*_BUSY):
            self._received += self.socket.recv(1 << 20)
        return True


class Server:
    """A loop with an acceptor and a processor in front of a Handler."""

    def __init__(
        self,
        limits: ConnectionLimits,
        clock: ManualClock | None = None,
        admittances: Admittances = MappingProxyType({}),
    ) -> None:
        self.loop = EventLoop(monotonic_ns=clock.ns) if clock else EventLoop()
        self.handler = Handler()
        self.journal = MemoryJournal()
        self.processor = Processor(self.loop, self.handler, limits, self.journal, admittances)
        self.loop.at_end_of_pass(self.handler.end_of_pass)
        self.clients: list[Client] = []
        self._acceptors: list[Acceptor] = []
        self.of_addresses = RateQuota(Windows(), self.loop, 100, longest_wait_ms=1_000)
        self._quotas = ConnectionQuotas(
            limits, self.loop.now_ms, self.of_addresses, protected=INTERNAL
        )
        self.acceptor = self.listen(CLIENTS)

    def listen(self, name: ListenerName) -> Acceptor:
        """One more listener, beside the clients' own."""
        acceptor = Acceptor(
            self.loop,
            name,
            bind_listener("127.0.0.1", 0),
            self.processor,
            self._quotas,
            self.journal,
        )
        self._acceptors.append(acceptor)
        return acceptor

    def client(self, receive_buffer_bytes: int | None = None, by: Acceptor | None = None) -> Client:
        """It comes by the clients' listener, or another."""
        client = Client(self, (by or self.acceptor).port, receive_buffer_bytes)
        self.clients.append(client)
        return client

    def until(self, condition: Callable[[], bool]) -> None:
        """Drive the loop until the condition holds."""
        for _ in range(_MAX_PASSES):
            if condition():
                return
            self.loop.run_pass(max_wait_ms=5)
        pytest.fail(
            f"not after {_MAX_PASSES} passes, with {len(self.processor)} connections, "
            f"requests {self.handler.correlation_ids}, events {self.journal.events}"
        )

    def until_asked(self, count: int) -> None:
        self.until(lambda: len(self.handler.requests) == count)

    def settle(self) -> None:
        """Drive the loop until a pass had nothing to do."""
        for _ in range(5):
            self.loop.run_pass(max_wait_ms=1)

    def close(self) -> None:
        for acceptor in self._acceptors:
            acceptor.close()
        self.processor.close()
        for client in self.clients:
            client.socket.close()
        self.loop.close()


ServerFactory = Callable[..., Server]
