"""Links to brokers that want to know who comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from logquake.node.net.admittance import ListenerSecurity
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.links.channel import TcpChannel, TcpNetwork
from logquake.node.net.links.link import LinkSettings
from logquake.node.settings.security import LinkSecurity
from logquake.seams.network import Disconnected, Endpoint
from logquake.seams.tls.settings import ClientAuth
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.logins import PlainLogin
from logquake.wire.schema import Message
from tests.doubles.scheduler import ManualScheduler
from tests.net.secured import BROKER, MECHANISMS, admittances, doors, tls
from tests.net.server import Server, ServerFactory

SASL = ListenerSecurity(mechanisms=MECHANISMS)
LISTENERS = {
    "SSL": (ListenerSecurity(tls(client_auth=ClientAuth.REQUIRED)), LinkSecurity(tls("broker"))),
    "SASL_PLAINTEXT": (SASL, LinkSecurity(login=BROKER)),
    "SASL_SSL": (ListenerSecurity(tls(), MECHANISMS), LinkSecurity(tls(None), BROKER)),
}


class Asking:
    """One channel, and what it was answered."""

    def __init__(self, server: Server, link: LinkSecurity, scheduler: ManualScheduler) -> None:
        entry = doors(SASL, link).entry(scheduler, server.journal, "9")
        network = TcpNetwork(server.loop, LinkSettings(), entry)
        self.server = server
        self.channel: TcpChannel = network.channel(
            Endpoint(1, "127.0.0.1", server.acceptor.port), "9"
        )
        self.answers: list[Message | Disconnected] = []

    def ask(self, count: int = 1) -> list[Message | Disconnected]:
        for _ in range(count):
            self.channel.send(MetadataRequest(topics=[]), 12, self.answers.append)
        before = len(self.answers)
        self.server.until(lambda: len(self.answers) == before + count)
        return self.answers[before:]


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()


Connect = Callable[[ListenerSecurity, LinkSecurity], Asking]


@pytest.fixture
def connect(new_server: ServerFactory, scheduler: ManualScheduler) -> Iterator[Connect]:
    made: list[Asking] = []

    def to(listener: ListenerSecurity, link: LinkSecurity) -> Asking:
        server = new_server(ConnectionLimits(), admittances=admittances(listener, scheduler))
        server.handler.answer = lambda _: MetadataResponse(cluster_id="c")
        made.append(Asking(server, link, scheduler))
        return made[-1]

    yield to
    for each in made:
        each.channel.close()


@pytest.mark.parametrize("protocol", LISTENERS)
def test_requests_are_those_of_the_broker(connect: Connect, protocol: str) -> None:
    asking = connect(*LISTENERS[protocol])
    assert asking.ask(3) == [MetadataResponse(cluster_id="c")] * 3
    name = "CN=broker" if protocol == "SSL" else "broker"
    principals = {each.principal for each in asking.server.handler.requests}
    assert principals == {KafkaPrincipal("User", name)}


def test_records_stay_as_they_are_until_the_end_of_the_pass(connect: Connect) -> None:
    """Though TLS has the beginning of the next answer by then."""
    asking = connect(*LISTENERS["SSL"])
    contents = [os.urandom(900_000) for _ in range(10)]
    left = iter(contents)
    asking.server.handler.answer = lambda _: FetchResponse(
        responses=[
            FetchableTopicResponse(topic="t", partitions=[PartitionData(records=next(left))])
        ]
    )
    staged: list[memoryview] = []
    committed: list[bytes] = []

    def stage(answer: Message | Disconnected) -> None:
        assert isinstance(answer, FetchResponse)
        records = answer.responses[0].partitions[0].records
        assert isinstance(records, memoryview)
        staged.append(records)

    def commit() -> None:
        committed.extend(map(bytes, staged))
        staged.clear()

    asking.server.loop.at_end_of_pass(commit)
    for _ in contents:
        asking.channel.send(FetchRequest(), 12, stage)
    asking.server.until(lambda: len(committed) == len(contents))
    assert committed == contents


def test_a_wrong_password_is_told_to_who_asked(connect: Connect) -> None:
    asking = connect(SASL, LinkSecurity(login=PlainLogin("broker", "guess")))
    assert asking.ask() == [
        Disconnected(
            "not authenticated: SASL_AUTHENTICATION_FAILED: "
            "Authentication failed: Invalid username or password"
        )
    ]
    told = asking.server.journal.of("link-refused")
    assert [event.subject for event in told] == [f"broker 127.0.0.1:{asking.server.acceptor.port}"]


def test_a_server_of_another_authority_is_told_nothing(connect: Connect) -> None:
    stranger = replace(tls(None), trust_store=replace(tls(None).trust_store, certificates=None))
    asking = connect(LISTENERS["SASL_SSL"][0], LinkSecurity(stranger, BROKER))
    (answer,) = asking.ask()
    assert isinstance(answer, Disconnected)
    assert "unable to get local issuer certificate" in answer.reason
    assert asking.server.handler.requests == []


def test_a_session_is_renewed_before_it_ends(connect: Connect, scheduler: ManualScheduler) -> None:
    """The link goes by its loop's clock, the server by one that the test moves."""
    short = {name: replace(each, max_reauth_ms=100) for name, each in MECHANISMS.items()}
    asking = connect(ListenerSecurity(mechanisms=short), LinkSecurity(login=BROKER))
    asking.ask()
    loop = asking.server.loop
    renewed_from_ms = loop.now_ms() + 100
    asking.server.until(lambda: loop.now_ms() >= renewed_from_ms)
    scheduler.advance(1_000)
    assert asking.ask(2) == [MetadataResponse(cluster_id="c")] * 2
