"""A session of a real ZooKeeper, over kazoo: its thread reads and writes, the owner's loop decides.

All that kazoo reports goes through ``post`` in the order in which it came over the connection:
a watch event is never overtaken by the answer that shows its change.

Caveats: this uses kazoo's KazooClient._call, since kazoo's public calls attach the callback after
the request has left, and refuse null data in a transaction. A chroot behind the hosts must exist.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, TypeVar

from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState
from kazoo.retry import KazooRetry

from logquake.zk.kazoo_connection import PatientConnection, for_connection
from logquake.zk.kazoo_handler import DirectHandler
from logquake.zk.kazoo_requests import answer_of, rooted, to_request
from logquake.zk.kazoo_watches import Watch, WatchKeeper, WatchKind
from logquake.zk.operations import (
    Exists,
    Failed,
    GetChildren,
    GetData,
    Operation,
    SessionListener,
    WatchEvent,
    ZkError,
)
from logquake.zk.paths import path_of

R = TypeVar("R")
Post = Callable[[Callable[[], None]], None]

_RECONNECT_DELAY_S = 0.02
_RECONNECT_MAX_DELAY_S = 0.5


class KazooSession:
    """``post`` runs an action later on the owner's loop; it is called from kazoo's thread too.

    ``hosts`` is Kafka's zookeeper.connect, whose servers are tried in an order that ``random``
    draws. ``connect_timeout_ms`` bounds one attempt at one of them, as its share of the session's
    time does; attempts go on until close().
    """

    def __init__(
        self,
        hosts: str,
        session_timeout_ms: int,
        connect_timeout_ms: int,
        listener: SessionListener,
        post: Post,
        random: Random | None = None,
    ) -> None:
        self._listener = listener
        self._post = post
        self._serving = False  # what the listener was told last
        self._connection = 0  # the number of the one that it was told of
        self._closed = False
        self._watches = WatchKeeper(lambda event: post(partial(self._tell_watch, event)))
        self._client = _quiet_client(
            _shuffled(hosts, random or Random()), session_timeout_ms, connect_timeout_ms
        )
        self._client.add_listener(self._on_state)
        self._client.start_async()

    def submit(self, operation: Operation[R], done: Callable[[R | Failed], None]) -> None:
        if not self._serving:
            lost = Failed(ZkError.CONNECTION_LOSS, path_of(operation))
            self._post(partial(done, lost))
            return
        watch = self._watch_of(operation)
        settled = False

        def on_result(result: Any) -> None:
            nonlocal settled
            if settled:  # kazoo sets two results on a request that it cannot queue
                return
            settled = True
            outcome = answer_of(operation, result, self._client)
            if watch is not None:
                watch.learn(outcome)
            self._post(partial(done, outcome))

        result = for_connection(self._client.handler.async_result(), self._connection)
        result.rawlink(on_result)
        self._client._call(to_request(operation, self._client.chroot, watch), result)

    def close(self) -> None:
        """Blocks until ZooKeeper has ended the session, or could not be reached once more."""
        self._closed = True
        self._serving = False
        self._client.stop()
        self._client.close()

    def _watch_of(self, operation: Operation[Any]) -> Watch | None:
        match operation:
            case GetData(path, True) | Exists(path, True):
                return self._watches.watch(rooted(self._client.chroot, path), WatchKind.DATA)
            case GetChildren(path, True):
                return self._watches.watch(rooted(self._client.chroot, path), WatchKind.CHILDREN)
            case _:
                return None

    def _on_state(self, state: KazooState) -> None:
        """On kazoo's thread. LOST is an expiry, or the end that close() asked for."""
        if state == KazooState.CONNECTED:
            self._on_connected()
        elif state == KazooState.SUSPENDED:
            self._post(self._tell_disconnected)
        else:
            self._watches.forget()
            self._post(self._tell_expired)

    def _on_connected(self) -> None:
        """Watches first: what they missed is told before any answer that shows it."""
        self._watches.restore(self._client)
        session_id, _ = self._client.client_id
        connection = self._client._connection.number
        self._post(partial(self._tell_connected, session_id, connection))

    def _tell_connected(self, session_id: int, connection: int) -> None:
        if not self._closed:
            self._serving = True
            self._connection = connection
            self._listener.on_connected(session_id)

    def _tell_disconnected(self) -> None:
        if not self._closed:
            self._serving = False
            self._listener.on_disconnected()

    def _tell_expired(self) -> None:
        if not self._closed:
            self._serving = False
            self._listener.on_expired()

    def _tell_watch(self, event: WatchEvent) -> None:
        if not self._closed:
            self._listener.on_watch(event)


def _quiet_client(hosts: str, session_timeout_ms: int, connect_timeout_ms: int) -> KazooClient:
    """kazoo says in its log what the listener is told anyway.

    An attempt takes no more than its server's share of the session's time (ClientCnxn does so too):
    there is time left for the others then.
    """
    share_ms = session_timeout_ms / len(hosts.split(","))
    handler = DirectHandler(min(connect_timeout_ms, share_ms))
    client = KazooClient(
        hosts,
        timeout=session_timeout_ms / 1000,
        handler=handler,
        randomize_hosts=False,  # the order is drawn: PatientConnection goes round in it
        logger=logging.Logger("kazoo", logging.CRITICAL + 1),
        connection_retry=KazooRetry(
            max_tries=-1,
            delay=_RECONNECT_DELAY_S,
            max_delay=_RECONNECT_MAX_DELAY_S,
            sleep_func=handler.sleep_func,
        ),
    )
    client._connection = PatientConnection(client)
    return client


def _shuffled(hosts: str, random: Random) -> str:
    """The same servers in another order, with the chroot behind them as it was."""
    servers, slash, chroot = hosts.partition("/")
    each = servers.split(",")
    random.shuffle(each)
    return ",".join(each) + slash + chroot
