"""A broker takes its id in ZooKeeper, waits for a dead holder or replaces it, and yields to a live
one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.life.registration import Registrar, join_cluster
from logquake.seams.network import Disconnected
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import Create, GetData, SessionListener, SetData, WatchEvent
from logquake.zk.procedure import run
from logquake.zk.retry import RetryingSession
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

Step = Callable[[], None]


class Client:
    """A broker's session of the model; what arrives is handled by settle()."""

    def __init__(self, server: ModelServer, queue: list[Step]) -> None:
        self.registrar: Registrar | None = None
        self.session_id = 0
        self.session: ModelSession = server.connect(self, queue.append)

    def on_connected(self, session_id: int) -> None:
        self.session_id = session_id

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None: ...

    def on_watch(self, event: WatchEvent) -> None:
        if self.registrar is not None:
            self.registrar.on_watch(event)


class Survivor:
    """A broker's session that is followed by another when it expires, as a process has it."""

    def __init__(self, server: ModelServer, queue: list[Step]) -> None:
        self.registrar: Registrar | None = None
        self.session_id = 0
        self.link: ModelSession | None = None
        self._server, self._queue = server, queue
        self.session = RetryingSession(self._open, self)

    def on_connected(self, session_id: int) -> None:
        self.session_id = session_id
        if self.registrar is not None:
            self.registrar.register(session_id)

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None: ...

    def on_watch(self, event: WatchEvent) -> None:
        if self.registrar is not None:
            self.registrar.on_watch(event)

    def _open(self, listener: SessionListener) -> ModelSession:
        self.link = self._server.connect(listener, self._queue.append)
        return self.link


class World:
    def __init__(self, scheduler: ManualScheduler, network: ScriptedNetwork) -> None:
        self.server = ModelServer()
        self.scheduler, self.network = scheduler, network
        self.queue: list[Step] = []
        self.said: list[str] = []

    def settle(self) -> None:
        while self.queue:
            self.queue.pop(0)()

    def join(self) -> Client:
        client = Client(self.server, self.queue)
        self.settle()
        ids: list[Any] = []
        run(client.session, join_cluster("nuPQdOmPTNSLpn_S3CpZjQ"), ids.append)
        self.settle()
        assert ids == ["nuPQdOmPTNSLpn_S3CpZjQ"]
        return client

    def register(
        self, client: Client | Survivor, port: int, *, replaces_dead: bool = False
    ) -> Registrar:
        registrar = Registrar(
            client.session,
            self.network,
            self.scheduler,
            BrokerRegistration(1, (ListenerEndpoint("127.0.0.1", port),), 0),
            listener=PLAINTEXT,
            session_timeout_ms=2000,
            replaces_dead=replaces_dead,
            on_registered=lambda: self.said.append(f"registered {port}"),
            on_refused=self.said.append,
        )
        client.registrar = registrar
        registrar.register(client.session_id)
        self.settle()
        return registrar


@pytest.fixture
def world(scheduler: ManualScheduler, network: ScriptedNetwork) -> World:
    return World(scheduler, network)


def test_the_registration_is_ephemeral_and_its_czxid_is_the_epoch(world: World) -> None:
    client = world.join()
    registrar = world.register(client, 9001)
    assert world.said == ["registered 9001"]
    found: list[Any] = []
    client.session.submit(GetData("/brokers/ids/1"), found.append)
    world.settle()
    assert found[0].stat.czxid == registrar.broker_epoch
    assert found[0].stat.ephemeral_owner == client.session_id
    assert found[0].stat.version == 1


def test_a_dead_holder_is_waited_for(world: World) -> None:
    dead = world.join()
    world.register(dead, 9001)
    dead.session.abandon()
    anew = world.join()
    world.register(anew, 9001)
    assert world.said == ["registered 9001"]
    assert world.network.sent == []  # the same address: we hold it, so nobody else listens there
    world.server.expire(dead.session_id)
    world.settle()
    assert world.said == ["registered 9001", "registered 9001"]


REFUSED = Disconnected("connection refused", refused=True)


def test_a_dead_holder_at_the_same_address_is_replaced_at_once(world: World) -> None:
    dead = world.join()
    before = world.register(dead, 9001).broker_epoch
    dead.session.abandon()
    registrar = world.register(world.join(), 9001, replaces_dead=True)
    assert world.said == ["registered 9001", "registered 9001"]
    assert world.network.sent == []  # this process has the address bound: there is nobody to ask
    assert registrar.broker_epoch > before
    world.server.expire(dead.session_id)
    world.settle()
    assert holder_of(world) == registrar.broker_epoch
    world.scheduler.advance(60_000)
    assert len(world.said) == 2


def test_a_dead_holder_elsewhere_is_replaced_once_it_is_refused(world: World) -> None:
    dead = world.join()
    world.register(dead, 9001)
    dead.session.abandon()
    registrar = world.register(world.join(), 9002, replaces_dead=True)
    world.network.sent[0].done(REFUSED)
    world.settle()
    assert world.said == ["registered 9001", "registered 9002"]
    assert holder_of(world) == registrar.broker_epoch


@pytest.mark.parametrize("answer", [Disconnected("no answer in time"), ApiVersionsResponse()])
def test_a_holder_that_is_not_refused_is_not_replaced(
    world: World, answer: Disconnected | ApiVersionsResponse
) -> None:
    epoch = world.register(world.join(), 9001).broker_epoch
    world.register(world.join(), 9002, replaces_dead=True)
    world.network.sent[0].done(answer)
    world.settle()
    assert holder_of(world) == epoch


def test_a_holder_that_starts_and_does_not_listen_yet_is_not_replaced(world: World) -> None:
    """It has registered, and will write its registration again when it listens."""
    starting = world.join()
    path = "/brokers/ids/1"
    there = BrokerRegistration(1, (ListenerEndpoint("127.0.0.1", 9001),), 0)
    starting.session.submit(Create(path, there.encode(), ephemeral=True), lambda _: None)
    world.settle()
    world.register(world.join(), 9002, replaces_dead=True)
    world.network.sent[0].done(REFUSED)
    world.settle()
    assert world.said == []
    starting.session.submit(SetData(path, there.encode()), lambda _: None)
    world.settle()
    world.network.sent[1].done(ApiVersionsResponse())
    assert "a live broker at 127.0.0.1:9001 has it" in world.said[0]


def test_a_registration_that_is_another_one_by_now_is_not_replaced(world: World) -> None:
    dead = world.join()
    world.register(dead, 9001)
    dead.session.abandon()
    newcomer = world.join()
    world.register(newcomer, 9002, replaces_dead=True)
    third = world.join()
    world.server.expire(dead.session_id)
    third.session.submit(
        Create(
            "/brokers/ids/1",
            BrokerRegistration(1, (ListenerEndpoint("127.0.0.1", 9003),), 0).encode(),
            ephemeral=True,
        ),
        lambda _: None,
    )
    world.network.sent[0].done(REFUSED)
    world.settle()
    owner = world.server.model.data("/brokers/ids/1")
    assert owner is not None
    assert owner.stat.ephemeral_owner == third.session_id
    assert world.said == ["registered 9001"]


def holder_of(world: World) -> int:
    """The epoch of who is registered."""
    found = world.server.model.data("/brokers/ids/1")
    assert found is not None
    return found.stat.czxid


def test_a_holder_whose_registration_makes_no_sense_is_waited_for(world: World) -> None:
    holder = world.join()
    holder.session.submit(Create("/brokers/ids/1", b"garbage", ephemeral=True), lambda _: None)
    world.register(world.join(), 9001)
    assert world.said == []
    world.server.expire(holder.session_id)
    world.settle()
    assert world.said == ["registered 9001"]


def test_a_live_holder_keeps_the_id(world: World) -> None:
    world.register(world.join(), 9001)
    world.register(world.join(), 9002)
    world.network.sent[0].done(ApiVersionsResponse())
    assert world.said[1] == (
        "broker id 1 is taken: a live broker at 127.0.0.1:9001 has it; "
        "give this broker another broker.id"
    )


def paused_and_replaced(world: World) -> tuple[Survivor, Client]:
    """A broker is paused until its session has expired, and another took its id meanwhile."""
    world.join()
    paused = Survivor(world.server, world.queue)
    world.settle()
    world.register(paused, 9001)
    assert paused.link is not None
    paused.link.disconnect()
    world.server.expire(paused.session_id)
    usurper = world.join()
    world.register(usurper, 9002)
    assert world.said == ["registered 9001", "registered 9002"]
    paused.link.reconnect()
    world.settle()
    return paused, usurper


def test_a_broker_whose_id_was_taken_while_it_was_paused_yields(world: World) -> None:
    paused_and_replaced(world)
    [probe] = world.network.sent
    assert probe.endpoint.port == 9002
    probe.done(ApiVersionsResponse())
    assert world.said[2:] == [
        "broker id 1 is taken: a live broker at 127.0.0.1:9002 has it; "
        "give this broker another broker.id"
    ]


def test_a_broker_whose_id_was_taken_and_freed_while_it_was_paused_registers_anew(
    world: World,
) -> None:
    paused, usurper = paused_and_replaced(world)
    registrar = paused.registrar
    assert registrar is not None
    before = registrar.broker_epoch
    world.network.sent[0].done(Disconnected("refused"))
    usurper.session.close()
    world.settle()
    assert world.said[2:] == ["registered 9001"]
    assert registrar.broker_epoch > before
    world.scheduler.advance(60_000)
    assert len(world.said) == 3


def test_a_holder_that_neither_answers_nor_goes_is_given_up_on(world: World) -> None:
    world.register(world.join(), 9001)
    world.register(world.join(), 9002)
    world.scheduler.advance(7000)
    assert "has not gone in 7000 ms" in world.said[1]


def test_the_clusters_id_is_the_first_brokers(world: World) -> None:
    world.join()
    second = Client(world.server, world.queue)
    world.settle()
    ids: list[Any] = []
    run(second.session, join_cluster("AAAAAAAAAAAAAAAAAAAAAA"), ids.append)
    world.settle()
    assert ids == ["nuPQdOmPTNSLpn_S3CpZjQ"]


def test_a_registration_that_vanished_meanwhile_is_tried_again(world: World) -> None:
    holder = world.join()
    holder.session.submit(Create("/brokers/ids/1", b"{}", ephemeral=True), lambda _: None)
    world.settle()
    client = world.join()
    registrar = Registrar(
        client.session,
        world.network,
        world.scheduler,
        BrokerRegistration(1, (ListenerEndpoint("127.0.0.1", 9001),), 0),
        listener=PLAINTEXT,
        session_timeout_ms=2000,
        replaces_dead=False,
        on_registered=lambda: world.said.append("registered"),
        on_refused=world.said.append,
    )
    client.registrar = registrar
    registrar.register(client.session_id)
    world.server.expire(holder.session_id)
    world.settle()
    assert world.said == ["registered"]
