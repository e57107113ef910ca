"""A retrying session over the model: connections come and go, answers do not get lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import (
    Create,
    Exists,
    Failed,
    Operation,
    SessionListener,
    WatchEvent,
    ZkError,
)
from logquake.zk.retry import RetryingSession


class Owner:
    """Runs what is posted when told to, and notes what it hears."""

    def __init__(self) -> None:
        self.server = ModelServer()
        self.heard: list[Any] = []
        self.answers: list[Any] = []
        self.when_connected: Callable[[], None] = lambda: None
        self._posted: deque[Callable[[], None]] = deque()
        self.session = RetryingSession(self._open, self)

    def _open(self, listener: SessionListener) -> ModelSession:
        self.link = self.server.connect(listener, self._posted.append)
        return self.link

    def submit(self, operation: Operation[Any]) -> None:
        self.session.submit(operation, self.answers.append)

    def run(self) -> None:
        while self._posted:
            self._posted.popleft()()

    def on_connected(self, session_id: int) -> None:
        self.heard.append(("connected", session_id))
        self.when_connected()

    def on_disconnected(self) -> None:
        self.heard.append("disconnected")

    def on_expired(self) -> None:
        self.heard.append("expired")

    def on_watch(self, event: WatchEvent) -> None:
        self.heard.append(event)


@pytest.fixture
def owner() -> Owner:
    return Owner()


def test_what_is_asked_before_the_first_connection_waits_for_it(owner: Owner) -> None:
    owner.submit(Create("/a"))
    owner.run()
    assert owner.answers == ["/a"]


def test_what_is_asked_during_a_gap_is_done_after_it_in_order(owner: Owner) -> None:
    owner.run()
    owner.link.disconnect()
    owner.run()
    owner.submit(Create("/a"))
    owner.submit(Create("/a/b"))
    owner.run()
    assert owner.answers == []
    owner.link.reconnect()
    owner.run()
    assert owner.answers == ["/a", "/a/b"]


def test_an_answer_that_was_lost_is_asked_for_again_before_later_ones(owner: Owner) -> None:
    owner.run()
    owner.submit(Create("/n", sequential=True))
    owner.submit(Exists("/zookeeper"))
    owner.link.disconnect()
    owner.run()
    owner.submit(Create("/n", sequential=True))
    owner.link.reconnect()
    owner.run()
    assert [owner.answers[0], owner.answers[2]] == ["/n0000000002", "/n0000000003"]
    assert owner.server.model.children("/") == (
        "n0000000001",
        "n0000000002",
        "n0000000003",
        "zookeeper",
    )


def test_what_is_asked_before_a_gap_is_heard_of_comes_before_what_is_asked_after_it(
    owner: Owner,
) -> None:
    owner.run()
    owner.link.disconnect()
    owner.link.reconnect()
    owner.submit(Create("/first"))
    owner.when_connected = lambda: owner.submit(Create("/second"))
    owner.run()
    assert owner.answers == ["/first", "/second"]


def test_a_retry_may_be_refused_by_its_own_success(owner: Owner) -> None:
    owner.run()
    owner.submit(Create("/a"))
    owner.link.disconnect()
    owner.link.reconnect()
    owner.run()
    assert owner.answers == [Failed(ZkError.NODE_EXISTS, "/a")]


def test_what_waits_ends_with_its_session(owner: Owner) -> None:
    owner.run()
    owner.link.disconnect()
    owner.run()
    owner.submit(Create("/a"))
    owner.server.expire(owner.link.session_id)
    owner.link.reconnect()
    owner.run()
    assert owner.answers == [Failed(ZkError.SESSION_EXPIRED, "/a")]
    assert [entry for entry in owner.heard if isinstance(entry, str)] == ["disconnected", "expired"]


def test_what_is_in_flight_at_an_expiry_is_not_done_in_the_next_session(owner: Owner) -> None:
    owner.run()
    owner.submit(Create("/a"))
    owner.server.expire(owner.link.session_id)
    owner.submit(Create("/b"))
    owner.run()
    owner.submit(Create("/c"))
    owner.run()
    assert owner.answers == [
        Failed(ZkError.SESSION_EXPIRED, "/a"),
        Failed(ZkError.SESSION_EXPIRED, "/b"),
        "/c",
    ]


def test_the_owner_hears_of_every_session(owner: Owner) -> None:
    owner.run()
    first = owner.link.session_id
    owner.server.expire(first)
    owner.run()
    assert owner.heard == [
        ("connected", first),
        "expired",
        ("connected", owner.link.session_id),
    ]
