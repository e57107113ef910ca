"""Large requests share a bound: who waits, who goes first, and who is closed for it."""

from __future__ import annotations

import contextlib

import pytest

from logquake.node.net.limits import ConnectionLimits
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.doubles.clock import ManualClock
from tests.net.server import Server, ServerFactory

LARGE = 700_000  # beyond a connection's own memory
LIMITS = ConnectionLimits(max_request_bytes=1_000_000, max_queued_bytes=1_000_000)


def produce(size: int = LARGE) -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=b"r" * size)
    topic = TopicProduceData(name="t", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])


@pytest.fixture
def server(new_server: ServerFactory, clock: ManualClock) -> Server:
    return new_server(LIMITS, clock)


class Upload:
    """A large request on its way, as fast as the server takes it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.client = server.client()
        self._left = memoryview(self.client.encode(produce(), 9, 1))

    def pump(self, *, spare: int = 0) -> bool:
        """Send what the socket takes, all but the last spare bytes; whether that is done."""
        with contextlib.suppress(BlockingIOError):
            end = max(0, len(self._left) - spare)
            self._left = self._left[self.client.socket.send(self._left[:end]) :]
        return len(self._left) <= spare

    def send_most(self) -> None:
        """All but the last byte."""
        self._server.until(lambda: self.pump(spare=1))
        self._server.settle()

    def send_until_it_waits(self) -> None:
        memory = self._server.processor.memory
        self._server.until(lambda: self.pump(spare=1) and memory.is_short)


def test_a_large_request_waits_until_another_was_handled(server: Server) -> None:
    first, second = Upload(server), Upload(server)
    first.send_most()
    second.send_until_it_waits()
    first.pump()
    server.until_asked(1)
    assert not server.processor.memory.is_short
    server.until(lambda: second.pump() and len(server.handler.requests) == 2)


def test_every_large_request_arrives_in_the_end(server: Server) -> None:
    """Twelve at once, and memory for one."""
    server.handler.answer = lambda _: ProduceResponse()
    uploads = [Upload(server) for _ in range(12)]
    server.until(lambda: sum(upload.pump() for upload in uploads) == len(uploads))
    server.until(lambda: len(server.handler.requests) == len(uploads))
    assert not server.processor.memory.is_short


def test_small_requests_pass_while_large_ones_wait(server: Server) -> None:
    Upload(server).send_most()
    Upload(server).send_until_it_waits()
    server.client().send(MetadataRequest(topics=[]), 9, 5)
    server.until(lambda: server.handler.correlation_ids == [5])


def test_memory_that_lies_idle_is_not_waited_for(server: Server) -> None:
    """A connection keeps grown memory for its next request while nobody asks for it."""
    server.handler.answer = lambda _: ProduceResponse()
    for count in (1, 2):
        server.client().send(produce(), 9, count)
        server.until_asked(count)
        assert server.processor.memory.free_bytes < LARGE


def test_a_larger_request_claims_anew(server: Server) -> None:
    server.handler.answer = lambda _: ProduceResponse()
    client = server.client()
    for count, size in enumerate((400_000, 900_000, 500_000), 1):
        client.send(produce(size), 9, count)
        server.until_asked(count)
    assert server.processor.memory.free_bytes < 100_000
    client.socket.close()
    server.until(lambda: server.processor.memory.free_bytes == LIMITS.max_queued_bytes)


def test_a_closed_connection_gives_its_memory_back(server: Server) -> None:
    first, second = Upload(server), Upload(server)
    first.send_most()
    second.send_until_it_waits()
    first.client.socket.close()
    server.until(lambda: not server.processor.memory.is_short)
    second.client.socket.close()
    server.until(lambda: server.processor.memory.free_bytes == LIMITS.max_queued_bytes)


def test_a_late_request_is_closed_when_others_wait_for_its_memory(
    server: Server, clock: ManualClock
) -> None:
    late, second = Upload(server), Upload(server)
    late.send_most()
    clock.advance_ms(40_000)
    server.settle()
    assert not late.client.is_closed()  # it harms nobody
    second.send_until_it_waits()
    clock.advance_ms(6_000)
    server.until(late.client.is_closed)
    assert not server.processor.memory.is_short
    assert not second.client.is_closed()
    assert "others wait for the memory" in server.journal.events[-1].why
