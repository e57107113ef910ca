"""The admin client of asyncio's loop, for callers that block: the loop has a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, cast

from logquake.client import Admin
from logquake.client.aio import Admin as AioAdmin
from tests.waiting import PATIENCE_S


class AioInTurns:
    """Each call is begun on the loop, and what it promises awaited there."""

    def __init__(self, admin: AioAdmin, loop: asyncio.AbstractEventLoop) -> None:
        self._admin = admin
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            begun = self._on_loop(self._begin(name, args, kwargs)).result(PATIENCE_S)
            if isinstance(begun, Mapping):
                return {key: self._on_loop(_outcome(each)) for key, each in begun.items()}
            return self._on_loop(_outcome(begun))

        return call

    async def _begin(self, name: str, args: Any, kwargs: Any) -> Any:
        return getattr(self._admin, name)(*args, **kwargs)

    def _on_loop(self, coroutine: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


async def _outcome(future: Any) -> Any:
    return await future


@contextmanager
def aio_in_turns(servers: str) -> Iterator[Admin]:
    """What looks like the one that blocks."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    async def made() -> AioAdmin:
        return AioAdmin(bootstrap_servers=servers)

    try:
        admin = asyncio.run_coroutine_threadsafe(made(), loop).result(PATIENCE_S)
        try:
            yield cast("Admin", AioInTurns(admin, loop))
        finally:
            asyncio.run_coroutine_threadsafe(admin.close(), loop).result(PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
