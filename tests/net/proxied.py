"""A link whose ends are a test's own sockets, and what each end sees."""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from collections.abc import Callable
from random import Random
from typing import TypeVar

from logquake.cluster.links.effects import Effect, LinkFault, Path
from logquake.cluster.links.plan import Address, Link, LinkPlan
from logquake.cluster.links.process import LinksProcess
from logquake.cluster.links.requests.rules import RequestFault
from logquake.cluster.processes.ports import LOOPBACK, hold_port, port_of
from logquake.node.net.loop import EventLoop
from tests.doubles.clock import ManualClock
from tests.waiting import PATIENCE_S

T = TypeVar("T")

CLIENTS, BROKER = "clients", "broker-1"
TO_BROKER = Path((CLIENTS,), (BROKER,))
TO_CLIENTS = TO_BROKER.reversed()


class Links:
    """One link, from clients to a broker that ``listen()`` makes and ``die()`` ends."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._held = stack.enter_context(hold_port(None))
        self._behind = stack.enter_context(hold_port(None))
        self._listener: socket.socket | None = None
        self.clock = ManualClock()
        self.loop = EventLoop(monotonic_ns=self.clock.ns)
        stack.callback(self.loop.close)
        link = Link(CLIENTS, BROKER, self.address, self._address(self._behind))
        self.process = LinksProcess(self.loop, LinkPlan((link,)), Random(7), lambda: None)
        stack.callback(self.process.close)

    def listen(self) -> None:
        self._listener = listener = socket.socket()
        self._stack.callback(listener.close)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(self._address(self._behind))
        listener.listen()
        listener.setblocking(False)

    def die(self) -> None:
        assert self._listener is not None
        self._listener.close()

    @property
    def address(self) -> Address:
        """Where the link's dialler finds it."""
        return self._address(self._held)

    def lay(self, dialled: str) -> Address:
        """One more link to the same listener, under another name; where to dial it."""
        address = self._address(self._stack.enter_context(hold_port(None)))
        link = Link(CLIENTS, dialled, address, self._address(self._behind))
        self.process.lay(LinkPlan((link,)))
        return address

    def break_(self, effect: Effect, *paths: Path) -> int:
        return self.begin(LinkFault(effect, paths))

    def begin(self, fault: LinkFault | RequestFault) -> int:
        return self.process.board.begin(fault, owner=None, since_ms=0, until_ms=None).id

    def heal(self, fault_id: int) -> None:
        assert self.process.board.heal(fault_id)

    def dial(self, address: Address | None = None) -> socket.socket:
        """A connection under way."""
        sock = self._stack.enter_context(socket.socket())
        sock.setblocking(False)
        sock.connect_ex(address or self.address)
        return sock

    def refuses(self, address: Address | None = None) -> bool:
        """Whether a new connection is refused."""
        self.settle()
        with socket.socket() as sock:
            sock.setblocking(False)
            sock.connect_ex(address or self.address)
            return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED

    def pair(self, address: Address | None = None) -> tuple[socket.socket, socket.socket]:
        """A connection's two ends: who dialled, who was dialled."""
        near = self.dial(address)
        return near, self.accept()

    def accept(self) -> socket.socket:
        """The next connection that comes through, and is not just there to see who listens."""
        while True:
            sock = self.until(self._accepted)
            self.settle()
            if not is_over(sock):
                return sock

    def _accepted(self) -> socket.socket | None:
        assert self._listener is not None
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return None
        sock.setblocking(False)
        return self._stack.enter_context(sock)

    def until(self, look: Callable[[], T | None]) -> T:
        deadline = time.monotonic() + PATIENCE_S
        while not (seen := look()):
            assert time.monotonic() < deadline
            self._pass(1)
        return seen

    def settle(self) -> None:
        """Nothing more is under way, but for what waits for its time."""
        for _ in range(20):
            self._pass(1)

    def received(self, sock: socket.socket, size: int) -> bytes:
        """So many bytes, once they are there."""
        got = b""
        while len(got) < size:
            self.until(lambda: peeked(sock))
            got += sock.recv(size - len(got))
        return got

    def passed_ms(self, action: Callable[[], object]) -> int:
        """How long it took by the loop's clock."""
        began_ms = self.loop.now_ms()
        action()
        return self.loop.now_ms() - began_ms

    def send_all(
        self, sock: socket.socket, data: bytes, to: socket.socket, *, before_bytes: int = 0
    ) -> bytes:
        """Send, and receive at the other end meanwhile, also what was sent before."""
        got, left = b"", memoryview(data)
        while len(got) < before_bytes + len(data):
            with contextlib.suppress(BlockingIOError):
                left = left[sock.send(left) :] if left else left
            self._pass(0)
            with contextlib.suppress(BlockingIOError):
                got += to.recv(1 << 20)
        return got

    def _pass(self, max_wait_ms: float) -> None:
        """One, in a millisecond of the loop's clock; the system's time is its own."""
        self.clock.advance_ms(1)
        self.loop.run_pass(max_wait_ms)

    def _address(self, held: socket.socket) -> Address:
        return LOOPBACK, port_of(held)


def peeked(sock: socket.socket) -> bytes | None:
    """The next byte to read, b"" at the end; None if there is none yet."""
    try:
        return sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return None


def is_over(sock: socket.socket) -> bool:
    return peeked(sock) == b""


def is_reset(sock: socket.socket) -> bool:
    try:
        peeked(sock)
    except ConnectionResetError:
        return True
    return False


def is_over_or_reset(sock: socket.socket) -> bool:
    try:
        return is_over(sock)
    except ConnectionResetError:
        return True


def is_connected(sock: socket.socket) -> bool:
    try:
        sock.getpeername()
    except OSError:
        return False
    return True
