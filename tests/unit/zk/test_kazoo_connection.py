"""When a server that does not answer pings is given up, and which one comes next."""

from __future__ import annotations

from logquake.zk.kazoo_connection import OverduePing, from_the_next

SESSION_S = 6.0


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def ping_sent(clock: Clock, servers: int) -> OverduePing:
    """After the third of the session that passes before a ping leaves."""
    ping = OverduePing(clock)
    ping.expect(SESSION_S, servers)
    ping.set()
    return ping


def overdue_after(ping: OverduePing, clock: Clock, wait_s: float) -> float:
    """Seconds from the ping until it is overdue, asked every ``wait_s``."""
    sent_s = clock.now_s
    while not ping.is_set():
        clock.now_s += wait_s
        assert clock.now_s < sent_s + 10 * SESSION_S
    return clock.now_s - sent_s


def test_nothing_is_overdue_without_a_ping() -> None:
    clock = Clock()
    ping = OverduePing(clock)
    ping.expect(SESSION_S, 1)
    clock.now_s += 100
    assert not ping.is_set()


def test_a_lone_server_is_waited_for_until_the_session_must_be_over() -> None:
    clock = Clock()
    assert overdue_after(ping_sent(clock, 1), clock, 0.25) == SESSION_S * 2 / 3


def test_one_of_several_servers_is_left_with_a_third_of_the_session_in_hand() -> None:
    clock = Clock()
    assert overdue_after(ping_sent(clock, 3), clock, 0.25) == SESSION_S / 3


def test_a_second_ping_gives_the_first_no_more_time() -> None:
    clock = Clock()
    ping = ping_sent(clock, 3)
    clock.now_s += 1.5
    assert not ping.is_set()
    ping.set()
    clock.now_s += 0.5
    assert ping.is_set()


def test_an_answer_in_time_settles_it() -> None:
    clock = Clock()
    ping = ping_sent(clock, 3)
    clock.now_s += 1.5
    assert not ping.is_set()
    ping.clear()
    clock.now_s += 100
    assert not ping.is_set()
    ping.set()
    assert overdue_after(ping, clock, 0.25) == SESSION_S / 3


def test_a_wait_that_took_longer_than_asked_was_our_own_absence() -> None:
    """The process was stopped for an hour: its answer may lie in the socket's buffer."""
    clock = Clock()
    ping = ping_sent(clock, 1)
    clock.now_s += 3600
    assert not ping.is_set()
    assert overdue_after(ping, clock, 0.25) == SESSION_S / 3


SERVERS = [("zk1", "127.0.0.1", 2181), ("zk2", "127.0.0.1", 2182), ("zk3", "127.0.0.1", 2183)]


def test_at_first_servers_are_tried_in_their_order() -> None:
    assert from_the_next(SERVERS, None) == SERVERS


def test_after_one_that_is_lost_comes_the_next_and_itself_last() -> None:
    one, two, three = SERVERS
    assert from_the_next(SERVERS, two) == [three, one, two]
    assert from_the_next(SERVERS, three) == [one, two, three]


def test_a_server_that_its_name_no_longer_leads_to_is_forgotten() -> None:
    assert from_the_next(SERVERS, ("zk1", "127.0.0.9", 2181)) == SERVERS
