"""Proxies between ends that are this test's own sockets: what each end sees of a fault."""

from __future__ import annotations

import contextlib
import socket

import pytest

from logquake.cluster.links.connection import reset_at_close
from logquake.cluster.links.effects import (
    Cut,
    Delay,
    DropAfter,
    HalfOpen,
    Path,
    Rate,
    Reset,
)
from tests.net.proxied import (
    TO_BROKER,
    TO_CLIENTS,
    Links,
    is_connected,
    is_over,
    is_over_or_reset,
    is_reset,
    peeked,
)

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


# Links that come and go


def test_links_are_laid_beside_others_and_taken_up_again(live: Links) -> None:
    near, far = live.pair()
    address = live.lay("broker-2")
    others = live.pair(address)
    live.process.take_up("broker-2")
    assert live.until(lambda: all(map(is_over_or_reset, others)))
    assert live.refuses(address)
    assert live.process.board.ends == {"clients", "broker-1"}
    near.send(b"still there")
    assert live.received(far, 11) == b"still there"
