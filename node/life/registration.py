"""A broker's place in ZooKeeper: the cluster's id, and the ephemeral /brokers/ids/N.

The registration's czxid is the broker epoch: what the controller sends to an earlier incarnation
is told apart by it. A registration that is already there belongs either to a live broker with the
same id, which is a mistake to be told at once, or to a session of a dead one that ZooKeeper has
not expired yet. A request to its address tells which.

A dead one's registration is waited for, or, with logquake.failover.on.refusal, taken over at once:
where its address is this broker's own, which this process has bound, so that nobody else is there,
or where a broker that had listened is refused. Taking over is a deletion of just that znode and
the creation of this broker's, in one: controllers see a broker that restarted.

Caveat: the deletion names the znode's version, and its czxid is looked at right before. Between
the two a third broker with the same id would have to find the znode gone and register.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.seams.network import Disconnected, Endpoint, Network
from logquake.seams.scheduler import Scheduler, Timer
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.api_versions import ApiVersionsRequest
from logquake.wire.schema import Message
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH
from logquake.zk.operations import (
    Create,
    Delete,
    EventType,
    Exists,
    Failed,
    GetData,
    Multi,
    Session,
    SetData,
    Stat,
    WatchEvent,
    ZkError,
)
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform, run
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from logquake.zk.znodes.cluster import CLUSTER_PATH, ClusterId, Features
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.parents import create_parents

_CHANGED_HANDS = (ZkError.NO_NODE, ZkError.NODE_EXISTS, ZkError.BAD_VERSION)
_EXPIRY_GRACE_MS = 5_000  # ZooKeeper expires sessions in ticks, and its clock is not ours


async def join_cluster(proposed_cluster_id: str) -> str:
    """Make the persistent paths that Kafka expects; the cluster's id, made if there was none.

    Raises ZkFailure, MalformedZnode.
    """
    await attempt_all(create_parents())
    await attempt(Create(Features.path(), Features().encode()))
    await attempt(Create(CLUSTER_PATH))
    await attempt(Create(ClusterId.path(), ClusterId(proposed_cluster_id).encode()))
    return ClusterId.decode((await perform(GetData(ClusterId.path()))).data).cluster_id


@dataclass(frozen=True, slots=True)
class _Registered:
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class _Occupied:
    """Another session holds the id; a watch tells when it lets go, or writes it again.

    ``holder`` is None where its registration makes no sense, so that nobody can be asked.
    """

    holder: BrokerRegistration | None
    stat: Stat


async def _register(
    registration: BrokerRegistration, session_id: int
) -> _Registered | _Occupied | None:
    """Create the znode; None when it changed hands meanwhile and must be tried again."""
    path = registration.path(registration.broker_id)
    created = await attempt(Create(path, registration.encode(), ephemeral=True))
    if isinstance(created, Failed) and created.error is not ZkError.NODE_EXISTS:
        raise ZkFailure(created)
    stat = await perform(Exists(path, watch=True))
    if stat is None:
        return None
    if stat.ephemeral_owner == session_id:
        return _Registered(stat.czxid)
    held = await attempt(GetData(path))
    if isinstance(held, Failed):
        return None
    return _Occupied(_decoded(registration.broker_id, held.data), held.stat)


def _decoded(broker_id: int, data: bytes) -> BrokerRegistration | None:
    try:
        return BrokerRegistration.decode(broker_id, data)
    except MalformedZnode:
        return None


async def _replace(registration: BrokerRegistration, stale: Stat) -> None:
    """Put the registration in place of the stale one, if it is still there. Raises ZkFailure."""
    path = registration.path(registration.broker_id)
    now = await perform(Exists(path))
    if now is None or now.czxid != stale.czxid:
        return
    create = Create(path, registration.encode(), ephemeral=True)
    outcome = await attempt(Multi((Delete(path, now.version), create)))
    if isinstance(outcome, Failed) and outcome.error not in _CHANGED_HANDS:
        raise ZkFailure(outcome)


async def _write_again(registration: BrokerRegistration) -> None:
    """As Kafka does when its listeners are up: the znode's version is then 1."""
    path = registration.path(registration.broker_id)
    await attempt(SetData(path, registration.encode()))


class Registrar:
    """Registers one broker, again after each new session, and keeps its broker epoch.

    ``replaces_dead``: the registration of a broker that is gone is not waited for.
    """

    def __init__(
        self,
        session: Session,
        network: Network,
        scheduler: Scheduler,
        registration: BrokerRegistration,
        *,
        listener: ListenerName,
        session_timeout_ms: int,
        replaces_dead: bool,
        on_registered: Callable[[], None],
        on_refused: Callable[[str], None],
    ) -> None:
        self._session = session
        self._network = network
        self._scheduler = scheduler
        self._registration = registration
        self._path = registration.path(registration.broker_id)
        self._listener = listener
        self._replaces_dead = replaces_dead
        self._patience_ms = session_timeout_ms + _EXPIRY_GRACE_MS
        self._on_registered = on_registered
        self._on_refused = on_refused
        self._session_id = 0
        self._patience: Timer | None = None
        self._trying = False
        self.broker_epoch = UNKNOWN_BROKER_EPOCH

    def register(self, session_id: int) -> None:
        """Register for this session; on_registered or on_refused follows."""
        self._session_id = session_id
        self._try()

    def on_watch(self, event: WatchEvent) -> None:
        is_news = event.path == self._path and event.type in (EventType.DELETED, EventType.CHANGED)
        if is_news and self._patience is not None and not self._trying:
            self._try()

    def _try(self) -> None:
        self._trying = True
        run(self._session, _register(self._registration, self._session_id), self._on_outcome)

    def _on_outcome(self, outcome: _Registered | _Occupied | ZkFailure | None) -> None:
        self._trying = False
        match outcome:
            case _Registered(broker_epoch):
                self.broker_epoch = broker_epoch
                self._stop_waiting()
                self._on_registered()
                run(self._session, _write_again(self._registration), lambda _outcome: None)
            case _Occupied():
                self._wait_for_expiry()
                self._probe(outcome)
            case ZkFailure():
                pass  # the session ended; the next one registers anew
            case None:
                self._try()

    def _wait_for_expiry(self) -> None:
        if self._patience is None:
            self._patience = self._scheduler.call_later(self._patience_ms, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._refuse(f"its registration {self._path} has not gone in {self._patience_ms} ms")

    def _refuse(self, why: str) -> None:
        self._stop_waiting()
        self._on_refused(
            f"broker id {self._registration.broker_id} is taken: {why}; "
            "give this broker another broker.id"
        )

    def _probe(self, occupied: _Occupied) -> None:
        """Ask the holder's address for its versions. We hold our own, so nobody else is there."""
        holder = occupied.holder
        there = None if holder is None else holder.endpoint(self._listener)
        if there is None:
            return
        if _same_address(there, self._registration.endpoint(self._listener)):
            self._replace(occupied.stat)
            return
        channel = self._network.channel(
            Endpoint(self._registration.broker_id, there.host, there.port),
            f"broker-{self._registration.broker_id}-probe",
        )

        def answered(answer: Message | Disconnected) -> None:
            channel.close()
            if self._patience is None or self._trying:
                return
            if not isinstance(answer, Disconnected):
                self._refuse(f"a live broker at {there.host}:{there.port} has it")
            elif answer.refused and occupied.stat.version > 0:  # before that it may be starting
                self._replace(occupied.stat)

        channel.send(ApiVersionsRequest(), 0, answered)

    def _replace(self, stale: Stat) -> None:
        if self._replaces_dead:
            self._trying = True
            run(self._session, _replace(self._registration, stale), self._on_replaced)

    def _on_replaced(self, outcome: ZkFailure | None) -> None:
        if outcome is None:
            self._try()  # finds it made, or changed again
        else:
            self._trying = False  # the session ended; the next one registers anew


def _same_address(one: ListenerEndpoint, other: ListenerEndpoint | None) -> bool:
    return other is not None and (one.host, one.port) == (other.host, other.port)
