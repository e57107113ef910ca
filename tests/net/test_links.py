"""Proxies between ends that are this test's own sockets: what each end sees of a fault."""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import TypeVar

import pytest

from logquake.cluster.links.connection import reset_at_close
from logquake.cluster.links.effects import (
    Cut,
    Delay,
    DropAfter,
    Effect,
    HalfOpen,
    LinkFault,
    Path,
    Rate,
    Reset,
)
from logquake.cluster.links.plan import Link, LinkPlan
from logquake.cluster.links.process import LinksProcess
from logquake.cluster.ports import LOOPBACK, hold_port, port_of
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
        link = Link(CLIENTS, BROKER, self._address(self._held), self._address(self._behind))
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

    def break_(self, effect: Effect, *paths: Path) -> int:
        return self.process.board.begin(
            LinkFault(effect, paths), owner=None, since_ms=0, until_ms=None
        ).id

    def heal(self, fault_id: int) -> None:
        assert self.process.board.heal(fault_id)

    def dial(self) -> socket.socket:
        """A connection under way."""
        sock = self._stack.enter_context(socket.socket())
        sock.setblocking(False)
        sock.connect_ex(self._address(self._held))
        return sock

    def refuses(self) -> bool:
        """Whether a new connection is refused."""
        self.settle()
        with socket.socket() as sock:
            sock.setblocking(False)
            sock.connect_ex(self._address(self._held))
            return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED

    def pair(self) -> tuple[socket.socket, socket.socket]:
        """A connection's two ends: who dialled, who was dialled."""
        near = self.dial()
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

    def send_all(self, sock: socket.socket, data: bytes, to: socket.socket) -> bytes:
        """Send, and receive at the other end meanwhile."""
        got, left = b"", memoryview(data)
        while len(got) < len(data):
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

    def _address(self, held: socket.socket) -> tuple[str, int]:
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


@pytest.fixture
def links() -> Iterator[Links]:
    with contextlib.ExitStack() as stack:
        yield Links(stack)


@pytest.fixture
def live(links: Links) -> Links:
    """A broker listens."""
    links.listen()
    links.until(lambda: not links.refuses() or None)
    return links


# Without a fault


def test_bytes_go_both_ways(live: Links) -> None:
    near, far = live.pair()
    near.send(b"question")
    assert live.received(far, 8) == b"question"
    far.send(b"answer")
    assert live.received(near, 6) == b"answer"


def test_large_ones_too(live: Links) -> None:
    near, far = live.pair()
    data = bytes(range(256)) * 20_000
    assert live.send_all(near, data, far) == data
    assert live.send_all(far, data, near) == data


def test_who_does_not_read_holds_up_who_sends(live: Links) -> None:
    """What is held is bounded: the sender's own buffers fill, and empty once it is read."""
    near, far = live.pair()
    piece, sent = bytes(1 << 16), 0
    while True:
        try:
            sent += near.send(piece)
        except BlockingIOError:
            before = sent
            live.settle()
            with contextlib.suppress(BlockingIOError):
                sent += near.send(piece)
            if sent == before:
                break
    assert sent < 32 << 20
    received = 0
    while received < sent:
        received += len(live.received(far, min(sent - received, 1 << 20)))


def test_an_end_is_told_and_the_other_half_goes_on(live: Links) -> None:
    near, far = live.pair()
    near.send(b"last")
    near.shutdown(socket.SHUT_WR)
    assert live.received(far, 4) == b"last"
    live.until(lambda: is_over(far) or None)
    far.send(b"answer")
    assert live.received(near, 6) == b"answer"
    far.close()
    live.until(lambda: is_over(near) or None)


def test_a_reset_is_told(live: Links) -> None:
    near, far = live.pair()
    reset_at_close(near)
    near.close()
    live.until(lambda: is_reset(far) or None)
    near, far = live.pair()
    reset_at_close(far)
    far.close()
    live.until(lambda: is_reset(near) or None)


def test_a_dead_broker_refuses_and_one_that_is_back_does_not(live: Links) -> None:
    near, far = live.pair()
    live.die()
    far.close()
    live.until(lambda: is_over(near) or None)
    assert live.refuses()  # at once: the end is not told before
    live.listen()
    live.until(lambda: not live.refuses() or None)
    live.pair()


def test_a_broker_that_died_unnoticed_refuses_the_second_time(live: Links) -> None:
    """Its listener is gone, and no connection told so."""
    live.die()
    near = live.dial()
    live.until(lambda: is_reset(near) or None)
    assert live.refuses()


# Cut


def test_bytes_stay_where_they_are_until_a_cut_is_healed(live: Links) -> None:
    near, far = live.pair()
    cut = live.break_(Cut(), TO_BROKER)
    near.send(b"question")
    far.send(b"unasked")
    assert live.received(near, 7) == b"unasked"  # the other direction goes on
    live.settle()
    assert peeked(far) is None
    live.heal(cut)
    assert live.received(far, 8) == b"question"


def test_an_end_stays_too(live: Links) -> None:
    near, far = live.pair()
    cut = live.break_(Cut(), TO_BROKER)
    reset_at_close(near)
    near.close()
    live.settle()
    assert peeked(far) is None
    live.heal(cut)
    live.until(lambda: is_reset(far) or None)


@pytest.mark.parametrize("path", [TO_BROKER, TO_CLIENTS])
def test_a_new_connection_hangs_whichever_direction_is_cut(live: Links, path: Path) -> None:
    cut = live.break_(Cut(), path)
    waiting = live.dial()
    live.settle()
    assert not is_connected(waiting)
    live.heal(cut)
    live.until(lambda: is_connected(waiting) or None)  # its system has tried again
    far = live.accept()
    waiting.send(b"question")
    assert live.received(far, 8) == b"question"


def test_a_cut_hides_that_the_broker_died(live: Links) -> None:
    cut = live.break_(Cut(), TO_BROKER, TO_CLIENTS)
    live.die()
    assert not live.refuses()
    live.heal(cut)
    near = live.dial()
    live.until(lambda: live.refuses() or None)
    near.close()


# The others


def test_a_delay_is_kept(live: Links) -> None:
    near, far = live.pair()
    live.break_(Delay(80), TO_BROKER)
    near.send(b"question")
    assert live.passed_ms(lambda: live.received(far, 8)) in range(80, 90)


def test_a_rate_is_kept(live: Links) -> None:
    near, far = live.pair()
    live.break_(Rate(100_000), TO_BROKER)
    taken_ms = live.passed_ms(lambda: live.send_all(near, bytes(20_000), far))
    assert taken_ms in range(150, 165)  # 5,000 at once, the rest at the rate


def test_a_reset_link_refuses_until_it_is_healed(live: Links) -> None:
    near, far = live.pair()
    fault = live.break_(Reset(), TO_BROKER)
    live.until(lambda: is_reset(near) or None)
    live.until(lambda: is_reset(far) or None)
    assert live.refuses()
    live.heal(fault)
    live.pair()


def test_a_connection_is_reset_after_so_many_bytes(live: Links) -> None:
    live.break_(DropAfter(10), TO_CLIENTS)
    near, far = live.pair()
    near.send(bytes(100))
    assert live.received(far, 100) == bytes(100)
    far.send(b"0123456789abc")
    assert live.received(near, 10) == b"0123456789"
    live.until(lambda: is_reset(near) or None)
    live.until(lambda: is_reset(far) or None)


def test_half_open_keeps_an_end_to_itself(live: Links) -> None:
    near, far = live.pair()
    fault = live.break_(HalfOpen(), TO_BROKER)
    near.send(b"last")
    near.close()
    assert live.received(far, 4) == b"last"
    far.send(b"answer")
    live.settle()
    assert peeked(far) is None
    live.heal(fault)
    live.until(lambda: is_over_or_reset(far) or None)


def test_faults_hold_for_connections_that_come_later(live: Links) -> None:
    live.break_(Delay(30), TO_BROKER)
    near, far = live.pair()
    near.send(b"question")
    assert live.passed_ms(lambda: live.received(far, 8)) in range(30, 40)
