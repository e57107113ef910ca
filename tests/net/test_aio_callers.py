"""What a consumer on a loop has its program called for may call it, in tasks of its own too."""

from __future__ import annotations

import asyncio

from logquake.client.aio import Consumer
from logquake.client.consumer.group.listener import Offsets
from logquake.client.errors import ClientError


def test_a_callback_calls_its_consumer_in_a_task_of_its_own() -> None:
    """As `asyncio.wait_for` has it up to Python 3.11. No broker has to be there for it."""
    heard: list[ClientError | None] = []

    async def program() -> None:
        async with Consumer(bootstrap_servers="127.0.0.1:1", group_id="g") as consumer:

            async def hear(_: Offsets, error: ClientError | None) -> None:
                await asyncio.create_task(consumer.commit({}))
                heard.append(error)

            await consumer.commit_async({}, hear)
            await consumer.commit({})

    asyncio.run(program())
    assert heard == [None]
