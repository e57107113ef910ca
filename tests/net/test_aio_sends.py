"""A program on a loop that sends without a pause leaves others a turn, and its order is kept."""

from __future__ import annotations

import asyncio

from logquake.client.aio import Producer
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.schema import Message
from tests.net.asking import versions
from tests.net.server import Server
from tests.net.test_client_aio import serve_until

MANY = 5_000


def answers_of(server: Server) -> None:
    """A broker that leads the only partition of topic "t", and puts each batch at its beginning."""
    partition = MetadataResponsePartition(
        error_code=0, partition_index=0, leader_id=1, replica_nodes=[1], isr_nodes=[1]
    )
    topic = MetadataResponseTopic(error_code=0, name="t", partitions=[partition])
    broker = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=server.acceptor.port)

    def answer(request: Request) -> Message | None:
        if request.header.api_key == ApiKey.API_VERSIONS:
            return versions()
        if request.header.api_key == ApiKey.METADATA:
            return MetadataResponse(brokers=[broker], topics=[topic])
        written = PartitionProduceResponse(index=0, error_code=0, base_offset=0)
        return ProduceResponse(
            responses=[TopicProduceResponse(name="t", partition_responses=[written])]
        )

    server.handler.answer = answer


def test_others_have_a_turn_while_a_program_sends_what_there_is_room_for(server: Server) -> None:
    answers_of(server)
    turns: list[bool] = []

    async def program() -> None:
        producer = Producer(
            bootstrap_servers=f"127.0.0.1:{server.acceptor.port}", enable_idempotence=False
        )
        first = asyncio.create_task(producer.send("t", b"first"))
        await serve_until(server, first.done)
        asyncio.get_running_loop().call_soon(turns.append, True)
        for _ in range(MANY):
            await producer.send("t", b"value")
        assert turns
        await producer.close(0)

    asyncio.run(program())


def test_records_that_tasks_send_at_once_are_written_in_the_order_of_the_sends(
    server: Server,
) -> None:
    """All are in one batch, where their offsets say in which order they were taken."""
    answers_of(server)
    offsets: list[int] = []

    async def program() -> None:
        producer = Producer(
            bootstrap_servers=f"127.0.0.1:{server.acceptor.port}",
            enable_idempotence=False,
            batch_size=2**20,
            linger_ms=1_000_000,
        )
        known = asyncio.create_task(producer.partitions_for("t"))
        await serve_until(server, known.done)
        sends = (producer.send("t", b"value", partition=0) for _ in range(1_200))
        futures = await asyncio.gather(*sends)
        flushed = asyncio.create_task(producer.flush())
        await serve_until(server, flushed.done)
        offsets.extend(future.result().offset for future in futures)
        await producer.close(0)

    asyncio.run(program())
    assert offsets == [*range(1_200)]
