"""Clients whose calls are awaited, on asyncio's loop, without a thread.

futures.py   futures that are awaited
loops.py     the running loop
producer.py  the producer
consumer.py  the consumer
admin.py     the admin client
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from logquake.client.lazy_exports import lazily

if TYPE_CHECKING:
    from logquake.client.aio.admin import Admin as Admin
    from logquake.client.aio.consumer import Consumer as Consumer
    from logquake.client.aio.futures import Future as Future
    from logquake.client.aio.producer import Producer as Producer

_HANDED_OUT = {
    "Admin": "logquake.client.aio.admin",
    "Consumer": "logquake.client.aio.consumer",
    "Future": "logquake.client.aio.futures",
    "Producer": "logquake.client.aio.producer",
}

__all__ = sorted(_HANDED_OUT)  # noqa: PLE0605
__getattr__, __dir__ = lazily(__name__, _HANDED_OUT)
