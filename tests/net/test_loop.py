"""Passes: what runs in which order, what wakes the loop, what reaches it from other threads."""

from __future__ import annotations

import os
import socket
import threading
from concurrent.futures import Future
from functools import partial

import pytest

from logquake.node.net.loop import EPOLLIN, EventLoop


def test_a_pass_serves_readiness_then_timers_then_its_end_then_flushes(loop: EventLoop) -> None:
    order: list[str] = []
    reading, writing = socket.socketpair()
    with reading, writing:
        writing.send(b"x")

        def on_readable(_events: int) -> None:
            reading.recv(1)
            order.append("readable")
            loop.call_before_wait(lambda: order.append("flush"))

        loop.watch(reading.fileno(), EPOLLIN, on_readable)
        loop.call_later(0, lambda: order.append("timer"))
        loop.at_end_of_pass(lambda: order.append("commit"))
        loop.run_pass()
        loop.unwatch(reading.fileno())
    assert order == ["readable", "timer", "commit", "flush"]


def test_a_flush_that_causes_another_is_followed_by_it_in_the_same_pass(loop: EventLoop) -> None:
    order: list[str] = []

    def first() -> None:
        order.append("first")
        loop.call_before_wait(lambda: order.append("second"))

    loop.call_before_wait(first)
    loop.run_pass(max_wait_ms=0)
    assert order == ["first", "second"]
    loop.run_pass(max_wait_ms=0)
    assert order == ["first", "second"]


def test_a_timer_wakes_the_loop_and_never_early(loop: EventLoop) -> None:
    started_ms = loop.now_ms()
    loop.call_later(20, loop.stop)
    loop.run()
    assert loop.now_ms() - started_ms >= 20


def test_a_post_from_another_thread_wakes_the_loop(loop: EventLoop) -> None:
    order: list[int] = []

    def post_all() -> None:
        for number in range(100):
            loop.post(partial(order.append, number))
        loop.post(loop.stop)

    thread = threading.Thread(target=post_all)
    thread.start()
    loop.run()
    thread.join()
    assert order == list(range(100))


def test_what_a_post_posts_waits_for_the_next_pass(loop: EventLoop) -> None:
    order: list[str] = []
    loop.post(lambda: loop.post(lambda: order.append("later")))
    loop.run_pass()
    assert order == []
    loop.run_pass()
    assert order == ["later"]


def test_work_runs_on_another_thread_and_its_result_on_the_loop(loop: EventLoop) -> None:
    seen: list[tuple[int, int]] = []

    def done(finished: Future[int]) -> None:
        seen.append((finished.result(), threading.get_ident()))
        loop.stop()

    loop.run_in_worker(threading.get_ident, done)
    loop.run()
    [(worked_on, told_on)] = seen
    assert worked_on != told_on == threading.get_ident()


def test_what_work_raises_is_raised_where_its_result_is_asked_for(loop: EventLoop) -> None:
    def work() -> None:
        raise OSError("no space left")

    def done(finished: Future[None]) -> None:
        with pytest.raises(OSError, match="no space left"):
            finished.result()
        loop.stop()

    loop.run_in_worker(work, done)
    loop.run()


def test_an_event_does_not_reach_the_next_owner_of_its_descriptor(loop: EventLoop) -> None:
    first, second = os.pipe(), os.pipe()
    for _, writing in (first, second):
        os.write(writing, b"x")
    heirs: list[int] = []
    served: list[int] = []

    def take_over(own: int, other: int) -> None:
        """Close the other pipe, and watch another file that gets its number."""
        served.append(own)
        loop.unwatch(other)
        os.close(other)
        heir = os.dup(own)
        assert heir == other
        loop.watch(heir, 0, lambda _: served.append(heir))
        heirs.append(heir)

    loop.watch(first[0], EPOLLIN, lambda _: take_over(first[0], second[0]))
    loop.watch(second[0], EPOLLIN, lambda _: take_over(second[0], first[0]))
    loop.run_pass()
    assert len(served) == 1
    for fd in {*first, *second, *heirs}:
        os.close(fd)


def test_an_exception_of_a_callback_ends_the_run(loop: EventLoop) -> None:
    def fail() -> None:
        raise ValueError("a bug")

    loop.call_soon(fail)
    with pytest.raises(ValueError, match="a bug"):
        loop.run()
