"""One broker on its machine: the disk that outlives it, its ZooKeeper client, its lives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from logquake.node.broker import Broker
from logquake.node.outside import Outside
from logquake.node.requests.api_table import ApiTable
from logquake.node.requests.request import Request
from logquake.seams.network import Endpoint
from logquake.wire.header import RequestHeader
from logquake.wire.schema import Message
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import SessionListener
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.doubles.workers import ScheduledWorkers
from tests.sim.clock import Action
from tests.sim.connection import HostNetwork
from tests.sim.delays import Wire
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric, Reply
from tests.sim.settings import LISTENER, PORT, SESSION_TIMEOUT_MS, broker_settings
from tests.sim.trace import Trace, TraceJournal

ONE_EVENT_SHARE = 0.5
PASS_US = 300  # events that reach a broker within this time are of one pass


class Machine:
    """``broker`` is None while the process is dead. ``properties`` go before the usual ones."""

    def __init__(
        self,
        broker_id: int,
        fabric: Fabric,
        zookeeper: ModelServer,
        trace: Trace,
        rng: Random,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.host = Host(f"b{broker_id}", fabric.clock)
        self.endpoint = Endpoint(broker_id, self.host.name, PORT)
        self.disk = MemoryDisk()
        self.broker: Broker | None = None
        self.api: ApiTable | None = None
        self.listening = False
        self.refusal: str | None = None
        self._fabric = fabric
        self._zookeeper = zookeeper
        self._trace = trace
        self._rng = rng
        self._settings = broker_settings(broker_id, properties or {})
        self._link: ModelSession | None = None
        self._link_is_cut = False
        self._pass_is_due = False
        self._silences = 0
        self._deaf_life: int | None = None
        fabric.servers[(self.endpoint.host, self.endpoint.port)] = self

    # The process

    def start(self) -> None:
        self.host.revive()
        self.host.after_each = self._owe_a_pass
        self._pass_is_due = False
        scheduler = HostScheduler(self.host)
        self.broker = Broker(
            self._settings,
            Outside(
                scheduler=scheduler,
                network=HostNetwork(self._fabric, self.host),
                disk=self.disk,
                workers=ScheduledWorkers(scheduler),
                journal=TraceJournal(self._trace, self.host.name),
                open_session=self._open_session,
                random=Random(self._rng.getrandbits(64)),
                thread_time_ns=lambda: 0,
                address_of=lambda _host: None,
            ),
            on_serving=self._listen,
            on_ready=lambda: None,
            on_refused=self._refuse,
        )
        self.host.run(self.host.incarnation, self.broker.start)

    def kill(self) -> None:
        """kill -9: all state of the process is gone, what was written to files is not."""
        self.listening = False
        self.broker = self.api = None
        self.host.die()
        self.disk.crash(Unsynced.KEPT)
        if self._link is not None:
            session_id = self._link.session_id
            self._link.abandon()
            self._link = None
            self._after_timeout(partial(self._zookeeper.expire, session_id))

    def lose_disk(self) -> None:
        """Of a dead process: the next one finds an empty disk."""
        self.disk = MemoryDisk()

    def stop(self, done: Action) -> None:
        """SIGTERM: leaderships are moved away, the logs closed, the session ended; then done."""
        broker, life = self.broker, self.host.incarnation
        if broker is not None:
            stopped = partial(self._stopped, broker, life, done)
            self.host.run(life, partial(broker.begin_controlled_shutdown, stopped))

    def _stopped(self, broker: Broker, life: int, done: Action) -> None:
        """Once, however often it was asked to stop."""
        if life != self.host.incarnation:
            return
        self._trace.counts["stopped in order"] += 1
        broker.close()
        self._link = None
        self.kill()
        done()

    def pause(self) -> None:
        """SIGSTOP. The session ends if it lasts."""
        self.host.pause()
        self._note_silence()

    def resume(self) -> None:
        self.host.resume()

    def serve(self, header: RequestHeader, body: Message, client: str, reply: Reply) -> bool:
        assert self.api is not None
        received_ms = self._fabric.clock.now_us // 1000

        def close(_why: str) -> None:
            reply(None)

        request = Request(header, body, received_ms, client, LISTENER, reply, close)
        self.api.handle(request)
        return request.next_may_follow

    def _listen(self, api: ApiTable) -> None:
        self.api = api
        self.listening = True

    def close_listener(self) -> None:
        """The process lives on, resets whoever is connected to it and refuses others."""
        if self.listening:
            self.listening = False
            self._deaf_life = self.host.incarnation
            self.host.reset()

    def open_listener(self) -> None:
        if self._deaf_life == self.host.incarnation and self.broker is not None:
            self.listening = True

    def _refuse(self, why: str) -> None:
        self.refusal = why

    def _owe_a_pass(self) -> None:
        """Half of the passes have one event, the others what arrives in a short while."""
        if not self._pass_is_due and self._rng.random() < ONE_EVENT_SHARE:
            self._end_pass_now()
        elif not self._pass_is_due:
            self._pass_is_due = True
            life = self.host.incarnation
            delay_us = self._rng.randint(0, PASS_US)
            self._fabric.clock.after(
                delay_us, f"{self.host.name} end of pass", lambda: self._end_pass(life)
            )

    def _end_pass(self, life: int) -> None:
        """A paused process ends its pass when it continues."""
        self.host.run(life, self._end_pass_now, is_event=False)

    def _end_pass_now(self) -> None:
        self._pass_is_due = False
        if self.broker is not None:
            self.broker.end_of_pass()

    # ZooKeeper

    @property
    def session_id(self) -> int | None:
        return None if self._link is None else self._link.session_id

    def cut_zookeeper(self) -> None:
        self._link_is_cut = True
        if self._link is not None:
            self._link.disconnect()
        self._note_silence()

    def lose_quorum(self) -> None:
        """No server answers anybody, and so none ends a session either."""
        self._link_is_cut = True
        self._silences += 1
        if self._link is not None:
            self._link.disconnect()

    def heal_zookeeper(self) -> None:
        self._link_is_cut = False
        if self._link is not None:
            self._link.reconnect()

    def _open_session(self, listener: SessionListener) -> ModelSession:
        host, life = self.host, self.host.incarnation
        to_server = Wire(host.clock, self._fabric.delays)
        to_client = Wire(host.clock, self._fabric.delays)
        self._link = self._zookeeper.connect(
            listener,
            post=lambda action: to_client.send(f"zk -> {host.name}", host.bound(life, action)),
            send=lambda action: to_server.send(f"{host.name} -> zk", action),
        )
        if self._link_is_cut:
            self._link.disconnect()
        return self._link

    def _note_silence(self) -> None:
        """ZooKeeper hears nothing from now on: after the session's time-out it ends."""
        self._silences += 1
        if self._link is not None:
            self._after_timeout(partial(self._expire, self._link.session_id, self._silences))

    def _expire(self, session_id: int, silence: int) -> None:
        if silence == self._silences and not self._is_heard:
            self._zookeeper.expire(session_id)

    @property
    def _is_heard(self) -> bool:
        return self.host.alive and not self.host.paused and not self._link_is_cut

    def _after_timeout(self, action: Action) -> None:
        label = f"session time-out of {self.host.name}"
        self._fabric.clock.after(SESSION_TIMEOUT_MS * 1000, label, action)
