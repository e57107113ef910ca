"""The only broker of a cluster, whose answers to Produce a test decides one by one."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import NamedTuple

from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_request_header, encode_response
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.messages.transactions import InitProducerIdResponse
from logquake.wire.records import BatchHeader, read_header
from logquake.wire.schema import Message, decode
from tests.parts import joined

_BROKER_ID = 1
_SERVED = {
    ApiKey.PRODUCE: (3, 9),
    ApiKey.FETCH: (4, 11),  # librdkafka: no batches of magic 2 without it
    ApiKey.METADATA: (1, 9),
    ApiKey.API_VERSIONS: (0, 3),
    ApiKey.INIT_PRODUCER_ID: (0, 1),
}


class Produced(NamedTuple):
    """One Produce request of one batch; call ``answer``, at any time, or ``lose`` it."""

    partition: int
    batch: BatchHeader
    answer: Callable[[ErrorCode], None]
    lose: Callable[[], None]


@contextmanager
def scripted_leader(
    topic: str, partitions: int, on_produce: Callable[[Produced], None]
) -> Iterator[ScriptedLeader]:
    leader = ScriptedLeader(topic, partitions, on_produce)
    leader.start()
    try:
        yield leader
    finally:
        leader.stop()


class ScriptedLeader:
    """Leads all ``partitions`` of ``topic``; ``on_produce`` runs in the connection's thread."""

    def __init__(self, topic: str, partitions: int, on_produce: Callable[[Produced], None]) -> None:
        self._topic = topic
        self._partitions = partitions
        self._on_produce = on_produce
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self._threads = [Thread(target=self._accept)]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def _port(self) -> int:
        return int(self._listener.getsockname()[1])

    def start(self) -> None:
        self._threads[0].start()

    def stop(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(connection)
                self._threads.append(Thread(target=self._serve, args=(connection,)))
                self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection.makefile("rb") as stream:
            while length := stream.read(4):
                self._handle(connection, memoryview(stream.read(int.from_bytes(length, "big"))))

    def _handle(self, connection: socket.socket, frame: memoryview) -> None:
        header, start = decode_request_header(frame)
        request = request_type(header.api_key)
        assert request is not None
        body = decode(request, header.api_version, frame, start)
        if isinstance(body, ProduceRequest):
            self._on_produce(self._produced(connection, header, body))
        else:
            _send(connection, header, self._answer(header.api_key))

    def _produced(
        self, connection: socket.socket, header: RequestHeader, body: ProduceRequest
    ) -> Produced:
        partition = body.topic_data[0].partition_data[0]
        assert isinstance(partition.records, memoryview)

        def answer(error: ErrorCode) -> None:
            answered = PartitionProduceResponse(index=partition.index, error_code=error)
            topic = TopicProduceResponse(name=self._topic, partition_responses=[answered])
            _send(connection, header, ProduceResponse(responses=[topic]))

        def lose() -> None:
            connection.shutdown(socket.SHUT_RDWR)

        return Produced(partition.index, read_header(partition.records), answer, lose)

    def _answer(self, key: int) -> Message:
        if key == ApiKey.API_VERSIONS:
            served = [
                ApiVersion(api_key=api, min_version=first, max_version=last)
                for api, (first, last) in _SERVED.items()
            ]
            return ApiVersionsResponse(api_keys=served)
        if key == ApiKey.INIT_PRODUCER_ID:
            return InitProducerIdResponse(producer_id=7, producer_epoch=0)
        assert key == ApiKey.METADATA
        return self._metadata()

    def _metadata(self) -> MetadataResponse:
        partitions = [
            MetadataResponsePartition(
                partition_index=index,
                leader_id=_BROKER_ID,
                replica_nodes=[_BROKER_ID],
                isr_nodes=[_BROKER_ID],
            )
            for index in range(self._partitions)
        ]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=_BROKER_ID, host="127.0.0.1", port=self._port)],
            controller_id=_BROKER_ID,
            topics=[MetadataResponseTopic(name=self._topic, partitions=partitions)],
        )


def _send(connection: socket.socket, header: RequestHeader, answer: Message) -> None:
    connection.sendall(joined(encode_response(header.correlation_id, answer, header.api_version)))
