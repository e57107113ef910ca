"""One broker as a process: the event loop, sockets, ZooKeeper through kazoo, the machine's disk.

The port is bound first and listened on when there is something to serve. SIGTERM or SIGINT asks
the controller to move leaderships away, then stops; a second one stops at once, in order all the
same. Exit statuses: 0 stopped when asked, 1 a bug, with its traceback, 2 the configuration or the
environment does not allow this broker, in one line.
"""

from __future__ import annotations

import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from time import thread_time_ns
from types import FrameType

from logquake.node.broker import Broker
from logquake.node.journal_events import SETTING_IGNORED, STOPPING, STOPPING_AT_ONCE
from logquake.node.net.acceptor import Acceptor
from logquake.node.net.addresses import address_of
from logquake.node.net.links.channel import TcpNetwork
from logquake.node.net.listener import ListenError, bind_listener
from logquake.node.net.loop import EventLoop
from logquake.node.net.pass_watch import PassWatch
from logquake.node.net.processor import Processor
from logquake.node.net.quotas import ConnectionQuotas
from logquake.node.outside import Outside
from logquake.node.process.busy_reports import BusyReports
from logquake.node.process.descriptors import open_segments, raise_limit
from logquake.node.process.doors import Doors
from logquake.node.process.heap import keep_collections_short, settle_heap
from logquake.node.process.journal_file import JournalFile
from logquake.node.process.key_stores import follow_stores
from logquake.node.requests.api_table import ApiTable
from logquake.node.settings import BrokerSettings
from logquake.seams.journal import Event
from logquake.seams.tls.settings import TlsError
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.errors import LogDirError, StorageError
from logquake.wire.listeners import ListenerName
from logquake.zk.kazoo_session import KazooSession
from logquake.zk.operations import SessionListener

STOPPED, BUG, REFUSED = 0, 1, 2
_STOPPING_SIGNALS = (signal.SIGTERM, signal.SIGINT)

Surround = Callable[[Outside, EventLoop], Outside]
"""What of the outside a broker is handed, by who breaks some of it on purpose."""


def as_it_is(outside: Outside, _loop: EventLoop) -> Outside:
    return outside


class RefusedError(Exception):
    """This broker cannot run here; the text is one line for whoever started it."""


def run_broker(
    settings: BrokerSettings,
    events: Path,
    *,
    ready: Callable[[], None] = lambda: None,
    surround: Surround = as_it_is,
) -> int:
    """Be a broker until a signal; the exit status. Call it on the main thread.

    ``events`` is the journal's file. ``ready`` is called once the cluster knows the broker and
    the controller has told its replicas what to do. ``surround`` is called once, before anything
    of the outside is used.
    """
    try:
        BrokerProcess(settings, events, ready, surround).run()
    except (RefusedError, ListenError, TlsError, LogDirError, StorageError) as error:
        print(f"broker {settings.broker_id}: {error}", file=sys.stderr)
        return REFUSED
    except Exception:  # noqa: BLE001 (the outermost edge: whatever is left is a bug)
        traceback.print_exc()
        return BUG
    return STOPPED


class BrokerProcess:
    """What surrounds a Broker in a process of its own. Raises as run_broker() sorts out."""

    def __init__(
        self,
        settings: BrokerSettings,
        events: Path,
        ready: Callable[[], None],
        surround: Surround,
    ) -> None:
        self._doors = Doors.of(settings.security)
        self._listeners = _bind_all(settings)
        ports = {name: sock.getsockname()[1] for name, sock in self._listeners.items()}
        self._settings = replace(
            settings,
            listeners=settings.listeners.resolved(ports, socket.getfqdn),
            open_segments_max=open_segments(settings.open_segments_max, raise_limit()),
        )
        self._loop = EventLoop()
        self._journal = self._open_journal(events)
        self._watch_passes()
        self._connect_timer = self._loop.call_later(
            settings.zookeeper.connection_timeout_ms, self._on_no_zookeeper
        )
        self._session: KazooSession | None = None
        self._processor: Processor | None = None
        self._acceptors: list[Acceptor] = []
        self._refused: str | None = None
        self._is_stopping = False
        self._broker = Broker(
            self._settings,
            surround(self._outside(), self._loop),
            on_serving=self._on_serving,
            on_ready=ready,
            on_refused=self._refuse,
        )

    def run(self) -> None:
        """Serve until stopped. Raises RefusedError where the broker may not run."""
        for number in _STOPPING_SIGNALS:
            signal.signal(number, self._on_signal)
        keep_collections_short()
        self._report_idle_keys()
        try:
            self._broker.start()
            self._loop.run()
        except BaseException:
            self._abandon()
            raise
        self._close()
        if self._refused is not None:
            raise RefusedError(self._refused)

    def _outside(self) -> Outside:
        return Outside(
            scheduler=self._loop,
            network=TcpNetwork(
                self._loop,
                self._settings.links,
                self._doors.entry(self._loop, self._journal, str(self._settings.broker_id)),
            ),
            disk=RealDisk(),
            workers=self._loop,
            journal=self._journal,
            open_session=self._open_session,
            random=Random(),
            thread_time_ns=thread_time_ns,
            address_of=address_of,
        )

    def _open_session(self, listener: SessionListener) -> KazooSession:
        zookeeper = self._settings.zookeeper
        self._session = KazooSession(
            zookeeper.connect,
            zookeeper.session_timeout_ms,
            zookeeper.connection_timeout_ms,
            listener,
            self._loop.post,
        )
        return self._session

    def _watch_passes(self) -> None:
        reports = BusyReports(f"broker-{self._settings.broker_id}", self._loop, self._journal)
        self._loop.passes = PassWatch(self._settings.loop_busy_ms, reports.report)

    def _open_journal(self, path: Path) -> JournalFile:
        try:
            return JournalFile(
                path,
                self._settings.broker_id,
                wall_ms=self._loop.wall_ms,
                flush_later=self._loop.call_before_wait,
                max_bytes=self._settings.journal_max_bytes,
            )
        except OSError as error:
            raise RefusedError(f"cannot write events to {path}: {error.strerror}") from error

    # Starting

    def _on_serving(self, api: ApiTable) -> None:
        """There is something to serve with: let the clients in."""
        self._connect_timer.cancel()
        settle_heap()
        limits = self._broker.config.settings.connections
        admittances = self._doors.admittances(self._broker.credentials, self._loop, api.served)
        follow_stores(self._broker.config, admittances, self._journal)
        self._processor = Processor(
            self._loop,
            api,
            limits,
            self._journal,
            admittances,
        )
        self._loop.at_end_of_pass(self._broker.end_of_pass)
        quotas = ConnectionQuotas(
            limits,
            self._loop.now_ms,
            self._broker.address_quota,
            protected=self._settings.listeners.inter_broker if len(self._listeners) > 1 else None,
        )
        self._broker.config.follow(lambda _before, after: quotas.change(after.connections))
        for name, listener in self._listeners.items():
            acceptor = Acceptor(
                self._loop,
                name,
                listener,
                self._processor,
                quotas,
                self._journal,
                backlog=self._settings.listen_backlog,
            )
            self._acceptors.append(acceptor)

    def _on_no_zookeeper(self) -> None:
        if self._broker.reached_zookeeper:
            return  # what follows, reading the cluster and opening logs, takes its time
        zookeeper = self._settings.zookeeper
        self._refuse(
            f"no ZooKeeper at {zookeeper.connect} within {zookeeper.connection_timeout_ms} ms "
            "(zookeeper.connection.timeout.ms)"
        )

    def _refuse(self, why: str) -> None:
        self._refused = why
        self._loop.stop()

    def _report_idle_keys(self) -> None:
        """Kafka warns of keys that it does not know; so do we, and of those we do not obey."""
        for keys, why in (
            (self._settings.unknown, "Kafka has no such key"),
            (self._settings.without_effect, "nothing here reads this key"),
        ):
            for key in keys:
                self._journal.record(Event(SETTING_IGNORED, key, why))

    # Stopping

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Runs between two instructions of the loop's thread: leave the work to the loop."""
        self._loop.post(self._stop)

    def _stop(self) -> None:
        subject = f"broker-{self._settings.broker_id}"
        if self._is_stopping:
            self._journal.record(Event(STOPPING_AT_ONCE, subject, "a second signal"))
            self._loop.stop()
            return
        self._is_stopping = True
        self._journal.record(Event(STOPPING, subject, "a signal"))
        self._broker.begin_controlled_shutdown(self._loop.stop)

    def _abandon(self) -> None:
        """After a bug: let the cluster go on without this broker.

        The logs are left as they are, since what is closed in order counts as clean.
        """
        if self._session is not None:
            self._session.close()
        self._journal.close()

    def _close(self) -> None:
        for acceptor in self._acceptors:
            acceptor.close()
        if self._processor is not None:
            self._processor.close()
        self._broker.close()
        self._journal.close()
        for listener in self._listeners.values():
            listener.close()
        self._loop.close()


def _bind_all(settings: BrokerSettings) -> dict[ListenerName, socket.socket]:
    """Bound sockets by listener name."""
    return {
        one.listener: bind_listener(
            one.host,
            one.port,
            receive_buffer_bytes=settings.connections.receive_buffer_bytes,
        )
        for one in settings.listeners.listeners
    }
