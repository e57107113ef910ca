"""The model and a real server behind one interface, so that one set of tests holds for both."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Protocol

from kazoo.client import KazooClient

from logquake.zk.kazoo_session import KazooSession
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import Create, SessionListener
from tests.system.zookeeper.client import Client
from tests.system.zookeeper.relay import Relay, relay_to
from tests.waiting import PATIENCE_S

SESSION_TIMEOUT_MS = 20_000
CONNECT_TIMEOUT_MS = 5_000


class Ensemble(Protocol):
    """``root`` is an empty node made for one test; everything is done below it."""

    root: str

    def connect(self) -> Client: ...

    def expire(self, client: Client) -> None:
        """End the client's session at the server; the client is told, or will be."""

    def cut(self, client: Client) -> None:
        """Break the client's connection and let no new one through."""

    def heal(self, client: Client) -> None: ...


class ModelEnsemble:
    def __init__(self, root: str) -> None:
        self._server = ModelServer()
        self._sessions: dict[Client, ModelSession] = {}
        self.root = root
        self.connect().perform(Create(root))

    def connect(self) -> Client:
        made: list[ModelSession] = []

        def open_session(listener: SessionListener, post: Callable[..., None]) -> ModelSession:
            made.append(self._server.connect(listener, post))
            return made[0]

        client = Client(open_session)
        self._sessions[client] = made[0]
        return client

    def expire(self, client: Client) -> None:
        self._server.expire(self._sessions[client].session_id)

    def cut(self, client: Client) -> None:
        self._sessions[client].disconnect()

    def heal(self, client: Client) -> None:
        self._sessions[client].reconnect()


class RealEnsemble:
    """Every client comes through a relay of its own."""

    def __init__(self, port: int, root: str, cleanup: ExitStack) -> None:
        self._port = port
        self._cleanup = cleanup
        self._relays: dict[Client, Relay] = {}
        self._identities: dict[Client, tuple[int, bytes]] = {}
        self.root = root
        self.connect().perform(Create(root))

    def connect(self) -> Client:
        relay = self._cleanup.enter_context(relay_to(self._port))
        hosts = f"127.0.0.1:{relay.port}"
        open_session = partial(KazooSession, hosts, SESSION_TIMEOUT_MS, CONNECT_TIMEOUT_MS)
        client = Client(open_session)
        self._cleanup.callback(client.session.close)
        self._cleanup.callback(relay.open)
        self._relays[client] = relay
        assert isinstance(client.session, KazooSession)
        self._identities[client] = client.session._client.client_id
        return client

    def expire(self, client: Client) -> None:
        """A second client takes the session over and closes it."""
        thief = KazooClient(f"127.0.0.1:{self._port}", client_id=self._identities[client])
        thief.start(PATIENCE_S)
        thief.stop()
        thief.close()

    def cut(self, client: Client) -> None:
        self._relays[client].shut()

    def heal(self, client: Client) -> None:
        self._relays[client].open()
