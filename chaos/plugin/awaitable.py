"""A cluster for tests that are coroutines: its methods, each in a thread, so that the loop goes on.

    await kafka.wait_isr(topic, 0, size=3)
    async with kafka.kill(kafka.leader(topic, 0)) as fault: ...

Whatever is a value without asking (bootstrap_servers, layout) is one here too, and is not awaited;
so are leader(), isr() and controller(), which answer in milliseconds.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Generic, TypeVar

from logquake.cluster.running.cluster import RunningCluster

AT_ONCE = frozenset({"leader", "isr", "controller", "client_config", "describe", "state"})

T = TypeVar("T")


class AwaitableCall(Generic[T]):
    """A call that is made when it is awaited, or entered: then what it returns is a fault."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._fault: Any = None

    def __await__(self) -> Generator[Any, None, T]:
        return _in_thread(self._call).__await__()

    async def __aenter__(self) -> T:
        self._fault = await self
        return self._fault  # type: ignore[no-any-return]

    async def __aexit__(self, *_: object) -> None:
        await _in_thread(self._fault.heal)


class AwaitableCluster:
    """``cluster`` is the same one for code that may block."""

    def __init__(self, cluster: RunningCluster) -> None:
        self.cluster = cluster

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.cluster, name)
        if name in AT_ONCE or not callable(found):
            return found
        return lambda *args, **kwargs: AwaitableCall(partial(found, *args, **kwargs))


async def _in_thread(call: Callable[[], T]) -> T:
    """By anyio where the test has it: it knows trio's loop from asyncio's."""
    anyio: Any = sys.modules.get("anyio")
    if anyio is None:
        return await asyncio.to_thread(call)
    found: T = await anyio.to_thread.run_sync(call)
    return found
