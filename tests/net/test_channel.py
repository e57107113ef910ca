"""Requests to another broker: order, losses, time-outs, and the bytes of big responses."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.links.channel import TcpChannel, TcpNetwork
from logquake.node.net.links.connector import Connector, ConnectSettings
from logquake.node.net.links.link import Link, LinkSettings
from logquake.node.net.listener import bind_listener
from logquake.node.net.loop import EventLoop
from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.api import ApiKey
from logquake.wire.header import encode_response
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.schema import Message
from tests.doubles.clock import ManualClock
from tests.net.server import Server, ServerFactory
from tests.parts import joined

BACKOFF_MS = 50


@pytest.fixture
def answers() -> list[Message | Disconnected]:
    return []


@pytest.fixture
def new_channel(server: Server) -> Iterator[Callable[..., TcpChannel]]:
    channels: list[TcpChannel] = []

    def make(port: int | None = None, host: str = "127.0.0.1", **settings: Any) -> TcpChannel:
        network = TcpNetwork(server.loop, LinkSettings(**settings))
        endpoint = Endpoint(1, host, port or server.acceptor.port)
        channels.append(network.channel(endpoint, "broker-2"))
        return channels[-1]

    yield make
    for channel in channels:
        channel.close()


@pytest.fixture
def channel(new_channel: Callable[..., TcpChannel]) -> TcpChannel:
    return new_channel()


def ask(channel: TcpChannel, answers: list[Message | Disconnected]) -> None:
    channel.send(MetadataRequest(topics=[]), 12, answers.append)


def test_requests_are_pipelined_and_answered_in_order(
    server: Server, channel: TcpChannel, answers: list[Message | Disconnected]
) -> None:
    server.handler.answer = lambda request: MetadataResponse(
        throttle_time_ms=request.header.correlation_id
    )
    for _ in range(3):
        ask(channel, answers)
    assert answers == []
    server.until(lambda: len(answers) == 3)
    assert answers == [MetadataResponse(throttle_time_ms=number) for number in range(3)]
    assert server.handler.requests[0].header.client_id == "broker-2"
    assert len(server.processor) == 1


def test_a_host_name_is_looked_up(
    server: Server,
    new_channel: Callable[..., TcpChannel],
    answers: list[Message | Disconnected],
) -> None:
    server.handler.answer = lambda _: MetadataResponse()
    ask(new_channel(host="localhost"), answers)
    server.until(lambda: len(answers) == 1)
    assert answers == [MetadataResponse()]


def test_a_refused_connection_is_an_answer_and_the_next_send_tries_again(
    server: Server,
    new_channel: Callable[..., TcpChannel],
    answers: list[Message | Disconnected],
) -> None:
    with bind_listener("127.0.0.1", 0) as silent:
        port = silent.getsockname()[1]
        channel = new_channel(port)
        asked_ms = server.loop.now_ms()
        ask(channel, answers)
        ask(channel, answers)
        assert answers == []  # never from within send()
        server.until(lambda: len(answers) == 2)
        why = f"cannot connect to 127.0.0.1:{port}: Connection refused"
        refused = Disconnected(why, refused=True)
        assert answers == [refused, refused]
        silent.listen()
        ask(channel, answers)
        _accepted(server, silent).close()
        assert server.loop.now_ms() - asked_ms >= BACKOFF_MS


def _accepted(server: Server, listener: socket.socket) -> socket.socket:
    """Whoever connects, once the system says so."""
    found: list[socket.socket] = []

    def look() -> bool:
        with suppress(BlockingIOError):
            found.append(listener.accept()[0])
        return bool(found)

    server.until(look)
    return found[0]


def test_requests_in_flight_learn_that_the_broker_is_gone(
    server: Server, channel: TcpChannel, answers: list[Message | Disconnected]
) -> None:
    ask(channel, answers)
    ask(channel, answers)
    server.until(lambda: bool(server.handler.requests))
    server.processor.close()
    server.until(lambda: len(answers) == 2)
    assert all(isinstance(answer, Disconnected) for answer in answers)
    server.handler.answer = lambda _: MetadataResponse()
    ask(channel, answers)
    server.until(lambda: len(answers) == 3)
    assert answers[2] == MetadataResponse()


def test_closing_answers_what_is_in_flight_but_not_from_within(
    server: Server, channel: TcpChannel, answers: list[Message | Disconnected]
) -> None:
    ask(channel, answers)
    server.until(lambda: bool(server.handler.requests))
    channel.close()
    assert answers == []
    server.settle()
    assert answers == [Disconnected("closed on this side")]


class TestTimeOuts:
    @pytest.fixture
    def server(self, new_server: ServerFactory, clock: ManualClock) -> Server:
        return new_server(ConnectionLimits(), clock)

    def test_a_request_that_is_not_answered_in_time_ends_the_connection(
        self,
        server: Server,
        clock: ManualClock,
        new_channel: Callable[..., TcpChannel],
        answers: list[Message | Disconnected],
    ) -> None:
        channel = new_channel(request_timeout_ms=30)
        ask(channel, answers)
        server.until_asked(1)
        assert answers == []
        clock.advance_ms(31)
        server.until(lambda: len(answers) == 1)
        assert answers == [Disconnected("no response within 30 ms")]
        server.handler.requests[0].reply(MetadataResponse())
        server.until(lambda: len(server.processor) == 0)

    def test_an_answered_request_does_not_time_out(
        self,
        server: Server,
        clock: ManualClock,
        new_channel: Callable[..., TcpChannel],
        answers: list[Message | Disconnected],
    ) -> None:
        server.handler.answer = lambda _: MetadataResponse()
        channel = new_channel(request_timeout_ms=20)
        ask(channel, answers)
        server.until(lambda: len(answers) == 1)
        clock.advance_ms(40)
        server.settle()
        assert answers == [MetadataResponse()]
        assert len(server.processor) == 1


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (
            joined(encode_response(99, MetadataResponse(), 12)),
            "response to request 99 instead of 0",
        ),
        (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
        (b"\0\0\0\x02\0\0", "response header"),
    ],
)
def test_bytes_that_are_no_answer_end_the_connection(
    server: Server,
    new_channel: Callable[..., TcpChannel],
    answers: list[Message | Disconnected],
    response: bytes,
    why: str,
) -> None:
    with bind_listener("127.0.0.1", 0) as listener:
        listener.listen()
        ask(new_channel(listener.getsockname()[1]), answers)
        with _accepted(server, listener) as peer:
            peer.send(response)
            server.until(lambda: len(answers) == 1)
    assert isinstance(answers[0], Disconnected)
    assert why in answers[0].reason


def test_records_of_a_big_fetch_stay_until_the_end_of_the_pass(
    server: Server, channel: TcpChannel
) -> None:
    contents = [os.urandom(3_000_000) for _ in range(3)]
    left = list(contents)
    server.handler.answer = lambda _: FetchResponse(
        responses=[
            FetchableTopicResponse(topic="t", partitions=[PartitionData(records=left.pop(0))])
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

    server.loop.at_end_of_pass(commit)
    for _ in contents:
        channel.send(FetchRequest(), 12, stage)
    server.until(lambda: len(committed) == 3)
    assert committed == contents


def test_connections_come_from_the_address_that_was_set(
    server: Server,
    new_channel: Callable[..., TcpChannel],
    answers: list[Message | Disconnected],
) -> None:
    server.handler.answer = lambda _: MetadataResponse()
    ask(new_channel(connect=ConnectSettings(source_host="127.0.0.77")), answers)
    server.until(lambda: len(answers) == 1)
    assert server.handler.requests[0].client_host == "127.0.0.77"
    assert server.handler.requests[0].header.api_key == ApiKey.METADATA


def test_a_done_that_sends_again_is_served(
    server: Server, channel: TcpChannel, answers: list[Message | Disconnected]
) -> None:
    server.handler.answer = lambda _: MetadataResponse()

    def once_more(answer: Message | Disconnected) -> None:
        answers.append(answer)
        ask(channel, answers)

    channel.send(MetadataRequest(topics=[]), 12, once_more)
    server.until(lambda: len(answers) == 2)
    assert answers == [MetadataResponse(), MetadataResponse()]


def test_a_done_that_closes_the_channel_ends_its_delivery(
    server: Server, channel: TcpChannel, loop: EventLoop
) -> None:
    del loop
    server.handler.answer = lambda _: MetadataResponse()
    seen: list[Message | Disconnected] = []

    def close(answer: Message | Disconnected) -> None:
        seen.append(answer)
        channel.close()

    channel.send(MetadataRequest(topics=[]), 12, close)
    channel.send(MetadataRequest(topics=[]), 12, seen.append)
    server.until(lambda: len(seen) == 2)
    assert seen == [MetadataResponse(), Disconnected("closed on this side")]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_connection_that_is_lost_leaves_no_cycle(
    server: Server,
    new_channel: Callable[..., TcpChannel],
    answers: list[Message | Disconnected],
    *,
    is_there: bool,
) -> None:
    """Once the heap is frozen nobody would look for it (node/process/heap.py)."""
    server.handler.answer = lambda _: MetadataResponse()
    with bind_listener("127.0.0.1", 0) as silent:
        channel = new_channel(None if is_there else silent.getsockname()[1])
        gc.collect()
        gc.disable()
        try:
            ask(channel, answers)
            server.until(lambda: len(answers) == 1)
            channel.close()
            server.settle()
            assert not [each for each in gc.get_objects() if isinstance(each, Link | Connector)]
        finally:
            gc.enable()
