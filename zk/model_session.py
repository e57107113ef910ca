"""Sessions of the model of ZooKeeper: the Session seam without a network.

Whoever makes the sessions supplies how things travel: ``post`` brings answers and events to the
client, ``send`` requests to the server (at once, if not given). A plain queue serves unit tests,
delayed deliveries the simulation; what one session posts must arrive in the order of posting, as
over one TCP connection, and likewise what it sends.

A ModelServer knows the clients of one model, so that a watch fired by one reaches another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from logquake.zk.model import ZooKeeperModel
from logquake.zk.model_watches import Fired
from logquake.zk.operations import Failed, Operation, SessionListener, WatchEvent, ZkError
from logquake.zk.paths import path_of

R = TypeVar("R")
Post = Callable[[Callable[[], None]], None]


def _at_once(action: Callable[[], None]) -> None:
    action()


class ModelServer:
    """The model and the clients that are connected to it."""

    def __init__(self, model: ZooKeeperModel | None = None) -> None:
        self.model = model or ZooKeeperModel()
        self._clients: dict[int, ModelSession] = {}

    def connect(self, listener: SessionListener, post: Post, send: Post = _at_once) -> ModelSession:
        """A new client; its first session is opened at once."""
        return ModelSession(self, listener, post, send)

    def expire(self, session_id: int) -> None:
        """End a session; a client that is connected learns of it and opens another."""
        client = self._clients.pop(session_id, None)
        self.deliver(self.model.close_session(session_id))
        if client is not None:
            client.expired()

    def attach(self, session_id: int, client: ModelSession) -> None:
        self._clients[session_id] = client

    def detach(self, session_id: int) -> None:
        self._clients.pop(session_id, None)

    def deliver(self, fired: Fired) -> None:
        for session_id, event in fired:
            client = self._clients.get(session_id)
            if client is not None:
                client.told(event)


class ModelSession:
    """A client of the model. Beyond the Session seam it can be cut off and come back."""

    def __init__(
        self, server: ModelServer, listener: SessionListener, post: Post, send: Post
    ) -> None:
        self._server = server
        self._listener = listener
        self._post = post
        self._send = send
        self._connected = False  # the link, as the server sees it
        self._connection = 0  # counts up: a request of an older one never arrives
        self._known_connection = 0  # the one that the client has been told of
        self._missed: list[WatchEvent] = []
        self._in_flight: dict[int, tuple[str, Callable[[Any], None]]] = {}
        self._submitted = 0
        self.session_id = 0
        self._open()

    def submit(self, operation: Operation[R], done: Callable[[R | Failed], None]) -> None:
        path = path_of(operation)
        if not self._connected or self._known_connection != self._connection:
            self._post(partial(done, Failed(ZkError.CONNECTION_LOSS, path)))
            return
        self._submitted += 1
        self._in_flight[self._submitted] = (path, done)
        self._send(partial(self._arrive, self._connection, self._submitted, operation))

    def close(self) -> None:
        """End the session. Nothing more is reported, answers in flight are dropped."""
        self.abandon()
        self._server.deliver(self._server.model.close_session(self.session_id))

    def abandon(self) -> None:
        """The client's process dies: nothing more is reported; the session lives until expired."""
        self._connected = False
        self._connection += 1
        self._in_flight.clear()
        self._server.detach(self.session_id)

    def disconnect(self) -> None:
        """Lose the connection: requests not yet answered have an unknown outcome."""
        if self._connected:
            self._connected = False
            self._fail_in_flight(ZkError.CONNECTION_LOSS)
            self._post(self._listener.on_disconnected)

    def reconnect(self) -> None:
        """Reach the server again: the same session with the events missed, or a new one."""
        if self._connected:
            return
        missed, self._missed = self._missed, []
        if self.session_id not in self._server.model.sessions:
            self._post(self._listener.on_expired)
            self._open()
            return
        self._serve()
        for event in missed:
            self.told(event)

    def told(self, event: WatchEvent) -> None:
        """A watch of this session fired; kept for the reconnection when cut off."""
        if self._connected:
            self._post(partial(self._listener.on_watch, event))
        else:
            self._missed.append(event)

    def expired(self) -> None:
        """The session ended at the server. A client that is cut off learns it on reconnection."""
        if self._connected:
            self._connected = False
            self._fail_in_flight(ZkError.SESSION_EXPIRED)
            self._post(self._listener.on_expired)
            self._open()

    def _open(self) -> None:
        self.session_id = self._server.model.open_session()
        self._server.attach(self.session_id, self)
        self._serve()

    def _serve(self) -> None:
        self._connected = True
        self._connection += 1
        self._post(partial(self._tell_connected, self._connection, self.session_id))

    def _tell_connected(self, connection: int, session_id: int) -> None:
        self._known_connection = connection
        self._listener.on_connected(session_id)

    def _arrive(self, connection: int, number: int, operation: Operation[Any]) -> None:
        """A request reaches the server; also when the client has given it up meanwhile."""
        if connection != self._connection:
            return
        outcome, fired = self._server.model.apply(self.session_id, operation)
        self._server.deliver(fired)
        self._post(partial(self._answer, number, outcome))

    def _answer(self, number: int, outcome: Any) -> None:
        in_flight = self._in_flight.pop(number, None)
        if in_flight is not None:
            in_flight[1](outcome)

    def _fail_in_flight(self, error: ZkError) -> None:
        lost, self._in_flight = self._in_flight, {}
        for path, done in lost.values():
            self._post(partial(done, Failed(error, path)))
