"""When a server that is silent is given up, when it is only slow, and which one comes next."""

from __future__ import annotations

from logquake.zk.kazoo_connection import Silence, from_the_next

SESSION_S = 6.0


def connected(servers: int) -> Silence:
    silence = Silence()
    silence.expect(SESSION_S, servers)
    return silence


def silent_for(silence: Silence, longest_wait_s: float) -> float:
    """Seconds until it is left, waiting for no longer than it may be waited for."""
    waited_s = 0.0
    while not silence.is_set():
        meant_s = min(longest_wait_s, silence.left_s)
        silence.waited(meant_s, meant_s)
        waited_s += meant_s
        assert waited_s < 10 * SESSION_S
    return waited_s


def test_a_lone_server_is_waited_for_until_the_session_must_be_over() -> None:
    assert silent_for(connected(1), 0.25) == SESSION_S


def test_one_of_several_servers_is_left_with_a_third_of_the_session_in_hand() -> None:
    """Also where each wait ends a little before its time, as kazoo's jitter has it."""
    for longest_wait_s in (0.25, 1.99, 1.6):
        assert round(silent_for(connected(3), longest_wait_s), 9) == SESSION_S * 2 / 3


def test_pings_and_requests_that_leave_are_no_sign_of_the_server() -> None:
    silence = connected(3)
    silence.waited(3.5, 3.5)
    silence.set()
    silence.clear()
    assert silent_for(silence, 0.25) == 0.5


def test_whatever_is_heard_settles_it() -> None:
    silence = connected(3)
    silence.waited(3.5, 3.5)
    silence.heard()
    assert not silence.is_set()
    assert silent_for(silence, 0.25) == SESSION_S * 2 / 3


def test_a_wait_that_took_longer_than_meant_was_our_own_absence() -> None:
    """The process was stopped for an hour: its answer may lie in the socket's buffer."""
    silence = connected(1)
    silence.waited(3600, 2)
    assert not silence.is_set()


SERVERS = [("zk1", "127.0.0.1", 2181), ("zk2", "127.0.0.1", 2182), ("zk3", "127.0.0.1", 2183)]


def test_at_first_servers_are_tried_in_their_order() -> None:
    assert from_the_next(SERVERS, None) == SERVERS


def test_after_one_that_is_lost_comes_the_next_and_itself_last() -> None:
    one, two, three = SERVERS
    assert from_the_next(SERVERS, two) == [three, one, two]
    assert from_the_next(SERVERS, three) == [one, two, three]


def test_a_server_that_its_name_no_longer_leads_to_is_forgotten() -> None:
    assert from_the_next(SERVERS, ("zk1", "127.0.0.9", 2181)) == SERVERS
