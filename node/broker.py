"""A whole broker: what a process runs on sockets, and a simulation in one thread.

It comes up in the order that Kafka does: a ZooKeeper session, the cluster's id, the logs, the
registration, and only then requests: the broker epoch must be known before the controller's
requests to an earlier incarnation can be told apart. Losing the session is
not the end: the broker serves on, fenced by leader epochs, and registers anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from logquake.node.authentication.credentials import Credentials
from logquake.node.composition.api import compose_api
from logquake.node.composition.composer import Composer
from logquake.node.composition.parts import KINDS_OF_CLIENTS, Membership, Parts
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.configs.entities import change_entity, read_entity, read_kind
from logquake.node.configs.passwords import Passwords
from logquake.node.journal_events import (
    READY,
    REGISTERED,
    ZOOKEEPER_DISCONNECTED,
    ZOOKEEPER_SESSION_EXPIRED,
)
from logquake.node.life.controlled_shutdown import ControlledShutdown
from logquake.node.life.log_dir_loading import LogDirLoading
from logquake.node.life.registration import join_cluster
from logquake.node.metadata.coordinators import CoordinatorTopics
from logquake.node.outside import Outside
from logquake.node.quotas.client_quotas import RateQuota
from logquake.node.requests.api_table import ApiTable
from logquake.node.settings import BrokerSettings
from logquake.node.settings.dynamic import changed_settings
from logquake.node.topics.configs import read_all
from logquake.node.topics.coordinator_topics import read_coordinator_topics
from logquake.seams.journal import Event, EventKind, Journal
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.wire.uuids import encode_uuid
from logquake.zk.operations import WatchEvent
from logquake.zk.procedure import ZkFailure, run
from logquake.zk.retry import RetryingSession
from logquake.zk.znodes.configs import broker_entity
from logquake.zk.znodes.json_text import MalformedZnode

NO_SESSION = 0


class Broker:
    """Listens to its ZooKeeper session, answers requests, and hosts a controller candidate.

    ``on_serving`` is called with what answers them when requests may come,
    ``on_ready`` when the cluster knows of this broker for the first time and the controller has
    told its replicas what to do, ``on_refused`` with one line when the broker can't be what its
    settings say.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        outside: Outside,
        *,
        on_serving: Callable[[ApiTable], None],
        on_ready: Callable[[], None],
        on_refused: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._outside = outside
        self._on_serving = on_serving
        self._on_ready = on_ready
        self._on_refused = on_refused
        self._session: RetryingSession | None = None
        self._config = BrokerConfig(
            settings.broker_id,
            settings.properties,
            partial(changed_settings, settings),
            Passwords(settings.password_encoder, outside.random.randbytes),
            outside.journal,
        )
        self._session_id = NO_SESSION
        self._loading: LogDirLoading | None = None
        self._parts: Parts | None = None
        self._was_registered = False
        self.credentials = Credentials()

    @property
    def config(self) -> BrokerConfig[BrokerSettings]:
        """What it is set to; follow it to hear of changes at run time."""
        return self._config

    @property
    def address_quota(self) -> RateQuota:
        """How fast connections may come from an address, of a broker that serves."""
        return self._serving().quotas.connections

    @property
    def reached_zookeeper(self) -> bool:
        """Whether it ever gave this broker a session."""
        return self._session_id != NO_SESSION

    def end_of_pass(self) -> None:
        """Everything readable was handled: write what is staged, release who may be answered.

        After this the bytes that requests of this pass point to may be overwritten.
        """
        if self._parts is not None:
            self._parts.replicas.end_of_pass()

    # The ZooKeeper session

    def start(self) -> None:
        """Open the ZooKeeper session; all else follows from it."""
        self._session = RetryingSession(self._outside.open_session, self)

    def on_connected(self, session_id: int) -> None:
        if session_id == self._session_id:
            return  # the same session after a gap: the registration and the watches still hold
        self._session_id = session_id
        if self._parts is None:
            proposal = encode_uuid(self._outside.random.randbytes(16))
            joining = _join(
                proposal,
                self._settings.broker_id,
                self._config.passwords,
                self._outside.journal,
                self._settings.auto_creation.coordinator_topics,
            )
            run(self._open_session(), joining, self._on_joined)
        else:
            self._register()

    def on_disconnected(self) -> None:
        self._record(ZOOKEEPER_DISCONNECTED, "no server answers; serving on with what is known")

    def on_expired(self) -> None:
        self._record(ZOOKEEPER_SESSION_EXPIRED, "no heartbeat reached ZooKeeper in time")
        if self._parts is not None:
            self._parts.controller.on_session_expired()

    def on_watch(self, event: WatchEvent) -> None:
        parts = self._serving()
        parts.registrar.on_watch(event)
        if parts.acls is not None:
            parts.acls.on_watch(event)
        parts.config_changes.on_watch(event)
        parts.tokens.on_watch(event)
        parts.controller.on_watch(event)

    def _on_joined(self, joined: Membership | MalformedZnode | ZkFailure) -> None:
        if isinstance(joined, ZkFailure):
            return  # the session ended before it was used; the next one starts over
        if isinstance(joined, MalformedZnode):
            self._on_refused(f"the cluster's id in ZooKeeper makes no sense: {joined}")
            return
        if self._loading is not None:
            return  # a join of the session before this one came through after all
        self._config.begin_with(joined.broker_defaults, joined.broker_overrides)
        composer = Composer(
            self._config, self._outside, self._open_session(), joined, self.credentials
        )
        self._loading = composer.load_logs(lambda log_dirs: self._on_loaded(composer, log_dirs))

    def _on_loaded(self, composer: Composer, log_dirs: LogDirs) -> None:
        self._parts = composer.compose(
            log_dirs, on_registered=self._on_registration, on_refused=self._on_refused
        )
        self._register()

    def _register(self) -> None:
        """Whoever may do what is known before anybody can ask."""
        parts = self._serving()
        parts.tokens.read()

        def register() -> None:
            parts.registrar.register(self._session_id)

        if parts.acls is None:
            register()
        else:
            parts.acls.read(register, self._on_refused)

    def _on_registration(self) -> None:
        parts = self._serving()
        epoch = parts.registrar.broker_epoch
        self._record(REGISTERED, "a ZooKeeper session serves", epoch=epoch)
        if not self._was_registered:
            self._was_registered = True
            self._on_serving(compose_api(parts))
            parts.first_orders.wait(self._note_ready)
        parts.controller.on_session_established(self._session_id)
        parts.config_changes.on_session_established()

    def _note_ready(self) -> None:
        self._record(READY, "the controller has told its replicas what to do")
        self._on_ready()

    # Stopping

    def begin_controlled_shutdown(self, done: Callable[[], None]) -> None:
        """Move leaderships away first; done is called when close() may follow."""
        if self._parts is None or not self._was_registered:
            done()
            return
        registrar = self._parts.registrar
        ControlledShutdown(
            self._settings.controlled_shutdown,
            self._settings.broker_id,
            lambda: registrar.broker_epoch,
            self._parts.controller_requests,
            self._outside.scheduler,
            self._outside.journal,
            done,
        ).run()

    def close(self) -> None:
        """Leave ZooKeeper and close the logs cleanly, so that the next start need not scan."""
        try:
            if self._parts is not None:
                self._parts.close()
            elif self._loading is not None:
                self._loading.cancel()
        finally:
            if self._session is not None:
                self._session.close()

    def _open_session(self) -> RetryingSession:
        if self._session is None:
            raise RuntimeError("the broker has not been started")
        return self._session

    def _serving(self) -> Parts:
        if self._parts is None:
            raise RuntimeError("the broker is not serving yet")
        return self._parts

    def _record(self, what: EventKind, why: str, *, epoch: int | None = None) -> None:
        subject = f"broker-{self._settings.broker_id}"
        self._outside.journal.record(Event(what=what, subject=subject, why=why, epoch=epoch))


async def _join(
    proposed_cluster_id: str,
    broker_id: int,
    passwords: Passwords,
    journal: Journal,
    coordinator_topics: CoordinatorTopics,
) -> Membership | MalformedZnode:
    """What must be known of the cluster before the log directory can be opened."""
    try:
        return Membership(
            await join_cluster(proposed_cluster_id),
            await read_all(journal),
            await read_entity(broker_entity(None), journal),
            await _read_own(broker_entity(broker_id), passwords, journal),
            {kind: await read_kind(kind, journal) for kind in KINDS_OF_CLIENTS},
            await read_coordinator_topics(coordinator_topics),
        )
    except MalformedZnode as malformed:
        return malformed


async def _read_own(entity: str, passwords: Passwords, journal: Journal) -> Mapping[str, str]:
    """What of it is encrypted with the old secret is written anew. Raises ZkFailure."""
    config = await read_entity(entity, journal)
    if passwords.reencoded(config) is None:
        return config
    await change_entity(entity, passwords.reencoded)
    return await read_entity(entity, journal)
