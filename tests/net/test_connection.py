"""Requests in, answers out: order, turns, muting, and what closes a connection."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import weakref
from pathlib import Path

import pytest

from logquake.node.net.connection import Connection
from logquake.node.net.limits import ConnectionLimits
from logquake.node.requests.request import Request
from logquake.storage.log.slice import LogSlice
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.net.server import Client, Server, ServerFactory
from tests.parts import bytes_of


def produce(records: bytes = b"records") -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=records)
    topic = TopicProduceData(name="t", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])


def records_of(request: Request) -> memoryview:
    """In the buffer that they were received in."""
    assert isinstance(request.body, ProduceRequest)
    records = request.body.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    return records


def metadata() -> MetadataRequest:
    return MetadataRequest(topics=[])


def arrive(server: Server, count: int) -> None:
    server.until(lambda: len(server.handler.requests) >= count)
    server.settle()


def replies(client: Client, count: int) -> list[int]:
    """Correlation ids of the next Produce responses."""
    return [client.receive_response(ApiKey.PRODUCE, 9)[0] for _ in range(count)]


class TestTurns:
    def test_a_request_is_answered(self, server: Server) -> None:
        client = server.client()
        client.send(metadata(), 9, 7)
        arrive(server, 1)
        request = server.handler.requests[0]
        assert (request.client_host, request.listener) == ("127.0.0.1", "CLIENTS")
        assert request.header.client_id == "test"
        request.reply(MetadataResponse(cluster_id="c"))
        correlation_id, response = client.receive_response(ApiKey.METADATA, 9)
        assert correlation_id == 7
        assert response == MetadataResponse(cluster_id="c")

    def test_requests_of_an_api_are_handed_on_while_the_last_one_lets_them_follow(
        self, server: Server
    ) -> None:
        client = server.client()
        for correlation_id in range(5):
            client.send(produce(), 9, correlation_id)
        arrive(server, 5)
        assert server.handler.correlation_ids == [0, 1, 2, 3, 4]

    def test_a_request_that_lets_none_follow_is_the_only_one_of_its_kind_in_progress(
        self, server: Server
    ) -> None:
        server.handler.lets_follow = lambda request: request.header.correlation_id != 1
        client = server.client()
        for correlation_id in range(4):
            client.send(produce(), 9, correlation_id)
        arrive(server, 2)
        assert server.handler.correlation_ids == [0, 1]
        server.handler.requests[1].reply(ProduceResponse())
        server.settle()
        assert server.handler.correlation_ids == [0, 1]  # its answer has not been sent yet
        server.handler.requests[0].reply(ProduceResponse())
        arrive(server, 4)
        assert server.handler.correlation_ids == [0, 1, 2, 3]

    def test_answers_leave_in_the_order_of_the_requests(self, server: Server) -> None:
        client = server.client()
        for correlation_id in range(4):
            client.send(produce(), 9, correlation_id)
        arrive(server, 4)
        for index in (2, 1, 3):
            server.handler.requests[index].reply(ProduceResponse())
        server.settle()
        assert not client.has_bytes()
        server.handler.requests[0].reply(ProduceResponse())
        assert replies(client, 4) == [0, 1, 2, 3]

    def test_another_request_waits_for_the_produce_before_it(self, server: Server) -> None:
        client = server.client()
        client.send(produce(), 9, 0)
        client.send(metadata(), 9, 1)
        client.send(produce(), 9, 2)
        arrive(server, 1)
        assert server.handler.correlation_ids == [0]
        server.handler.requests[0].reply(ProduceResponse())
        arrive(server, 2)
        assert server.handler.correlation_ids == [0, 1]
        server.handler.requests[1].reply(MetadataResponse())
        arrive(server, 3)
        assert server.handler.correlation_ids == [0, 1, 2]

    def test_a_produce_waits_for_another_request_before_it(self, server: Server) -> None:
        client = server.client()
        client.send(metadata(), 9, 0)
        client.send(produce(), 9, 1)
        arrive(server, 1)
        assert server.handler.correlation_ids == [0]

    def test_no_answer_lets_the_next_request_proceed(self, server: Server) -> None:
        client = server.client()
        server.handler.answer = lambda request: (
            None if request.header.api_key == ApiKey.PRODUCE else MetadataResponse()
        )
        client.send(produce(), 9, 0)
        client.send(metadata(), 9, 1)
        assert client.receive_response(ApiKey.METADATA, 9)[0] == 1

    def test_answering_twice_is_our_bug(self, server: Server) -> None:
        server.client().send(metadata(), 9, 0)
        arrive(server, 1)
        server.handler.requests[0].reply(MetadataResponse())
        with pytest.raises(RuntimeError, match="answered twice"):
            server.handler.requests[0].reply(MetadataResponse())

    def test_requests_of_one_connection_do_not_wait_for_those_of_another(
        self, server: Server
    ) -> None:
        server.client().send(metadata(), 9, 0)
        arrive(server, 1)
        server.client().send(metadata(), 9, 1)
        arrive(server, 2)
        assert server.handler.correlation_ids == [0, 1]

    def test_many_small_requests_in_one_buffer_are_all_answered(self, server: Server) -> None:
        server.handler.answer = lambda _: MetadataResponse()
        client = server.client()
        client.send_raw(b"".join(client.encode(metadata(), 9, n) for n in range(1_000)))
        ids = [client.receive_response(ApiKey.METADATA, 9)[0] for _ in range(1_000)]
        assert ids == list(range(1_000))


class TestBounds:
    def test_requests_in_progress_are_bounded(self, new_server: ServerFactory) -> None:
        server = new_server(ConnectionLimits(max_requests_in_progress=3))
        client = server.client()
        for correlation_id in range(5):
            client.send(produce(), 9, correlation_id)
        arrive(server, 3)
        assert len(server.handler.requests) == 3
        server.handler.requests[0].reply(ProduceResponse())
        arrive(server, 4)
        assert len(server.handler.requests) == 4

    def test_bytes_in_progress_are_bounded_but_let_one_request_through(
        self, new_server: ServerFactory
    ) -> None:
        server = new_server(ConnectionLimits(max_bytes_in_progress=1_000))
        client = server.client()
        for correlation_id in range(3):
            client.send(produce(bytes(1_100)), 9, correlation_id)
        arrive(server, 1)
        assert len(server.handler.requests) == 1
        server.handler.requests[0].reply(ProduceResponse())
        arrive(server, 2)
        assert len(server.handler.requests) == 2

    def test_a_client_that_does_not_read_is_not_served_on(self, new_server: ServerFactory) -> None:
        server = new_server(ConnectionLimits(max_unsent_bytes=1_000, send_buffer_bytes=4_096))
        answer = MetadataResponse(cluster_id="c" * 30_000)
        server.handler.answer = lambda _: answer
        client = server.client(receive_buffer_bytes=4_096)
        client.send_raw(b"".join(client.encode(metadata(), 9, n) for n in range(200)))
        server.settle()
        served = len(server.handler.requests)
        server.settle()
        assert len(server.handler.requests) == served < 20
        for expected in range(200):
            assert client.receive_response(ApiKey.METADATA, 9) == (expected, answer)

    def test_a_muted_connection_does_not_keep_the_loop_busy(self, server: Server) -> None:
        client = server.client()
        client.send(metadata(), 9, 0)
        client.send(metadata(), 9, 1)
        arrive(server, 1)
        passes = server.handler.ends_of_pass
        server.loop.run_pass(max_wait_ms=30)
        server.loop.run_pass(max_wait_ms=30)
        assert server.handler.ends_of_pass == passes + 2  # both waited; nothing was ready

    def test_connections_beyond_the_bound_wait_in_the_backlog(
        self, new_server: ServerFactory
    ) -> None:
        server = new_server(ConnectionLimits(max_connections=1))
        server.handler.answer = lambda _: MetadataResponse()
        first, second = server.client(), server.client()
        second.send(metadata(), 9, 0)
        server.until(lambda: len(server.processor) == 1)
        server.settle()
        assert len(server.processor) == 1
        first.socket.close()
        assert second.receive_response(ApiKey.METADATA, 9)[0] == 0

    def test_connections_beyond_the_bound_of_an_address_are_closed(
        self, new_server: ServerFactory
    ) -> None:
        server = new_server(ConnectionLimits(max_connections_per_ip=1))
        first, second = server.client(), server.client()
        server.until(second.is_closed)
        assert not first.is_closed()
        assert "too many connections" in server.journal.events[0].why
        first.socket.close()
        server.until(lambda: len(server.processor) == 0)
        third = server.client()
        server.settle()
        assert not third.is_closed()


class TestBytes:
    def test_a_request_in_single_bytes(self, server: Server) -> None:
        client = server.client()
        for byte in client.encode(metadata(), 9, 3):
            client.send_raw(bytes([byte]))
            server.settle()
        arrive(server, 1)
        assert server.handler.correlation_ids == [3]

    @pytest.mark.parametrize("size", [0, 1, 16_384, 262_144, 1_048_576, 5_000_000])
    def test_records_arrive_whole_whatever_their_size(self, server: Server, size: int) -> None:
        records = os.urandom(size)
        server.handler.answer = lambda request: ProduceResponse(
            throttle_time_ms=int(records_of(request) == records)
        )
        client = server.client()
        for correlation_id in range(3):
            client.send(produce(records), 9, correlation_id)
        for _ in range(3):
            response = client.receive_response(ApiKey.PRODUCE, 9)[1]
            assert response == ProduceResponse(throttle_time_ms=1)

    def test_records_stay_as_they_are_until_the_end_of_the_pass(self, server: Server) -> None:
        client = server.client()
        when_handled: list[bytes] = []
        at_the_end: list[bytes] = []
        server.handler.on_request = lambda request: when_handled.append(bytes(records_of(request)))

        def answer_all() -> None:
            requests, server.handler.requests = server.handler.requests, []
            at_the_end.extend(bytes(records_of(request)) for request in requests)
            for request in requests:
                request.reply(ProduceResponse())

        server.handler.on_end_of_pass = answer_all
        for correlation_id in range(40):
            client.send(produce(os.urandom(30_000)), 9, correlation_id)
        assert replies(client, 40) == list(range(40))
        assert at_the_end == when_handled

    def test_the_records_can_be_patched_in_place(self, server: Server) -> None:
        server.client().send(produce(bytes(100)), 9, 0)
        arrive(server, 1)
        records = records_of(server.handler.requests[0])
        records[0] = 7
        assert records_of(server.handler.requests[0])[0] == 7

    @pytest.mark.parametrize("size", [1, 10_000, 100_000, 9_000_000])
    def test_slices_of_files_are_sent_between_the_bytes(
        self, server: Server, tmp_path: Path, size: int
    ) -> None:
        content = os.urandom(size + 20)
        path = tmp_path / "00000000000000000000.log"
        path.write_bytes(content)
        with path.open("rb") as file:
            answer = fetch_response(LogSlice(_OpenFile(file.fileno()), 10, size, 0))
            server.handler.answer = lambda _: answer
            client = server.client()
            client.send(FetchRequest(), 12, 5)
            _, response = client.receive_response(ApiKey.FETCH, 12)
        assert isinstance(response, FetchResponse)
        for partition in response.responses[0].partitions:
            assert bytes_of(partition.records or b"") == content[10 : 10 + size]

    @pytest.mark.parametrize(
        ("size", "left", "why"),
        [
            pytest.param(100_000, 50_000, "file ended 50000 bytes early", id="sendfile"),
            pytest.param(10_000, 4_000, "file gave 4000 of 10000 bytes", id="read"),
        ],
    )
    def test_a_file_that_got_shorter_ends_the_connection(
        self, server: Server, tmp_path: Path, size: int, left: int, why: str
    ) -> None:
        """A truncation cut what the client was promised: it must not wait for the rest."""
        path = tmp_path / "00000000000000000000.log"
        path.write_bytes(bytes(left))
        with path.open("rb") as file:
            answer = fetch_response(LogSlice(_OpenFile(file.fileno()), 0, size, 0))
            server.handler.answer = lambda _: answer
            client = server.client()
            client.send(FetchRequest(), 12, 5)
            server.until(lambda: not len(server.processor) and bool(server.handler.requests))
        assert server.journal.events[-1].why == why

    def test_a_file_that_gets_shorter_while_it_is_sent_ends_the_connection(
        self, server: Server, tmp_path: Path
    ) -> None:
        path = tmp_path / "00000000000000000000.log"
        size = 20_000_000  # more than sockets hold
        with path.open("w+b") as file:
            file.truncate(size)
            answer = fetch_response(LogSlice(_OpenFile(file.fileno()), 0, size, 0))
            server.handler.answer = lambda _: answer
            client = server.client()

            def reads_to_the_end() -> bool:
                with contextlib.suppress(BlockingIOError):
                    client.socket.recv(1 << 20)
                return len(server.processor) == 0

            client.send(FetchRequest(), 12, 5)
            server.until(client.has_bytes)
            assert len(server.processor) == 1
            file.truncate(100)
            server.until(reads_to_the_end)
        assert "bytes early" in server.journal.events[-1].why


def fetch_response(records: LogSlice) -> FetchResponse:
    partitions = [PartitionData(partition_index=n, records=records) for n in range(2)]
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=partitions)])


class _OpenFile:
    """The part of storage's File that a LogSlice is sent through."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def pread(self, size: int, position: int) -> bytes:
        return os.pread(self._fd, size, position)

    def fileno(self) -> int:
        return self._fd


class TestEnds:
    def test_a_client_that_shuts_its_side_still_gets_its_answer(self, server: Server) -> None:
        client = server.client()
        client.send(metadata(), 9, 1)
        client.socket.shutdown(socket.SHUT_WR)
        arrive(server, 1)
        server.handler.requests[0].reply(MetadataResponse())
        assert client.receive_response(ApiKey.METADATA, 9)[0] == 1
        server.until(client.is_closed)

    def test_a_closed_connection_keeps_no_memory_whoever_still_knows_it(
        self, server: Server
    ) -> None:
        client = server.client()
        client.send(produce(bytes(500_000)), 9, 1)
        arrive(server, 1)
        request = server.handler.requests.pop()
        received = weakref.ref(records_of(request).obj)
        reply = request.reply
        del request
        assert received() is not None
        client.reset()
        server.until(lambda: not len(server.processor))
        assert received() is None
        reply(ProduceResponse())

    def test_a_connection_that_is_closed_leaves_no_cycle(self, server: Server) -> None:
        """Once the heap is frozen nobody would look for it (node/process/heap.py)."""
        client = server.client()
        client.send(metadata(), 9, 1)
        arrive(server, 1)
        server.handler.requests.pop().reply(MetadataResponse())
        server.settle()
        gc.collect()
        gc.disable()
        try:
            client.reset()
            server.until(lambda: not len(server.processor))
            server.settle()
            assert not [each for each in gc.get_objects() if isinstance(each, Connection)]
        finally:
            gc.enable()

    def test_an_answer_to_a_client_that_is_gone_is_dropped(self, server: Server) -> None:
        client = server.client()
        client.send(metadata(), 9, 1)
        arrive(server, 1)
        linger = (1).to_bytes(4, "little") + bytes(4)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)  # close resets
        client.socket.close()
        server.until(lambda: len(server.processor) == 0)
        server.handler.requests[0].reply(MetadataResponse())
        server.settle()
        assert server.journal.events == []

    def test_a_handler_can_end_the_connection_in_its_turn(self, server: Server) -> None:
        client = server.client()
        for correlation_id in range(3):
            client.send(produce(), 9, correlation_id)
        arrive(server, 3)
        server.handler.requests[1].close("append failed and acks=0")
        server.settle()
        assert not client.is_closed()
        server.handler.requests[0].reply(ProduceResponse())
        assert replies(client, 1) == [0]
        server.until(client.is_closed)
        assert [event.why for event in server.journal.events] == ["append failed and acks=0"]
        server.handler.requests[2].reply(ProduceResponse())

    def test_an_answer_that_cannot_be_written_ends_the_connection_and_no_more(
        self, server: Server
    ) -> None:
        client, bystander = server.client(), server.client()
        for each in (client, bystander):
            each.send(metadata(), 9, 1)
        arrive(server, 2)
        quoted = MetadataResponse(cluster_id="a name and what is wrong with it" * 1024)
        server.handler.requests[0].reply(quoted)
        server.until(client.is_closed)
        (event,) = server.journal.events
        assert "cannot be written: MetadataResponse v9: cluster_id" in event.why
        server.handler.requests[1].reply(MetadataResponse())
        assert bystander.receive_response(ApiKey.METADATA, 9)[0] == 1

    def test_closing_the_processor_closes_every_connection(self, server: Server) -> None:
        clients = [server.client(), server.client()]
        server.until(lambda: len(server.processor) == 2)
        server.processor.close()
        assert all(client.is_closed() for client in clients)


class TestHostileBytes:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
            (b"\x7f\xff\xff\xff", "a frame of 2147483647 bytes"),
            (b"GET / HTTP/1.1\r\n\r\n", "a frame of 1195725856 bytes"),
            (b"\0\0\0\0", "request header"),
            (b"\0\0\0\x01\0", "request header"),
            (b"\0\0\0\x0a\x7f\xff\0\0\0\0\0\x01\xff\xff", "key 32767"),
            (b"\0\0\0\x0a\0\x03\x00\x63\0\0\0\x01\xff\xff", "version 99"),
            (b"\0\0\0\x0a\0\x01\x00\x03\0\0\0\x01\xff\xff", "version 3"),
            (b"\0\0\0\x0a\0\x03\x00\x01\0\0\0\x01\x7f\xff", "client id"),
            (b"\0\0\0\x0e\0\x03\x00\x01\0\0\0\x01\xff\xff\x7f\xff\xff\xff", "count 2147483647"),
        ],
    )
    def test_the_connection_closes_with_one_event(
        self, server: Server, content: bytes, why: str
    ) -> None:
        client, bystander = server.client(), server.client()
        client.send_raw(content)
        server.until(client.is_closed)
        assert [event.what for event in server.journal.events] == ["connection-closed"]
        assert why in server.journal.events[0].why
        server.handler.answer = lambda _: MetadataResponse()
        bystander.send(metadata(), 9, 1)
        assert bystander.receive_response(ApiKey.METADATA, 9)[0] == 1

    @pytest.mark.parametrize("hostile", [b"\xff\xff\xff\xff", b"\0\0\0\x01\0"])
    def test_requests_before_the_hostile_bytes_are_answered(
        self, server: Server, hostile: bytes
    ) -> None:
        server.handler.answer = lambda _: MetadataResponse()
        client = server.client()
        asked = [client.encode(metadata(), 9, number) for number in range(3)]
        client.send_raw(b"".join(asked) + hostile + client.encode(metadata(), 9, 3))
        for number in range(3):
            assert client.receive_response(ApiKey.METADATA, 9)[0] == number
        server.until(client.is_closed)
        assert server.handler.correlation_ids == [0, 1, 2]
        assert [event.what for event in server.journal.events] == ["connection-closed"]

    def test_a_request_before_the_hostile_bytes_is_waited_for(self, server: Server) -> None:
        client = server.client()
        client.send_raw(client.encode(produce(), 9, 0) + b"\xff\xff\xff\xff")
        arrive(server, 1)
        server.settle()
        assert not client.is_closed()
        server.handler.requests[0].reply(ProduceResponse())
        assert replies(client, 1) == [0]
        server.until(client.is_closed)

    def test_a_flood_of_faults_leaves_few_events(self, server: Server) -> None:
        for _ in range(100):
            client = server.client()
            client.send_raw(b"\xff\xff\xff\xff")
            server.until(client.is_closed)
        assert len(server.journal.events) < 20

    def test_api_versions_of_the_future_is_answered_in_version_0(self, server: Server) -> None:
        client = server.client()
        client.send_raw(b"\0\0\0\x0b\0\x12\x00\x63\0\0\0\x09\xff\xff\0")
        correlation_id, response = client.receive_response(ApiKey.API_VERSIONS, 0)
        assert correlation_id == 9
        assert isinstance(response, ApiVersionsResponse)
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
        [only] = response.api_keys
        assert (only.api_key, only.min_version, only.max_version) == (18, 0, 4)
        server.handler.answer = lambda _: ApiVersionsResponse()
        client.send(ApiVersionsRequest(), 0, 10)
        assert client.receive_response(ApiKey.API_VERSIONS, 0)[0] == 10

    def test_a_long_length_takes_no_memory_before_its_bytes(self, server: Server) -> None:
        before = resident_bytes()
        clients = [server.client() for _ in range(20)]
        for client in clients:
            client.send_raw((100_000_000).to_bytes(4) + b"\0\0\0\x09")
        server.settle()
        assert resident_bytes() - before < 20_000_000


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
