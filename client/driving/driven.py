"""What a driver sees of a core and its connections, even if others use them concurrently."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from logquake.client.errors import ClientError
from logquake.client.network.effects import Effect


class Core(Protocol):
    def poll(self, now_ms: int) -> None:
        """Do what is due."""

    def next_due_ms(self, polled_ms: int) -> int | None:
        """When to poll next, if nothing happens before; None for never.

        ``now_ms`` is the time of the last poll, which did nothing that became due since then.
        """


class LastingCore(Core, Protocol):
    """A core that a driver keeps for longer than one call."""

    def abandon(self, why: ClientError) -> None:
        """It is no longer driven, or has failed: fail everything that is pending."""


class Driven(Protocol):
    """The half of Links that a driver uses; its docstrings apply."""

    def take_effects(self) -> list[Effect]: ...

    def resolved(self, link_id: int, addresses: Iterable[str], now_ms: int) -> None: ...

    def connected(self, link_id: int, now_ms: int) -> None: ...

    def login_began(self, link_id: int, told: bytes | Exception, now_ms: int) -> None: ...

    def room(self, link_id: int) -> memoryview: ...

    def received(self, link_id: int, count: int, now_ms: int) -> bool: ...

    def written(self, link_id: int) -> bool: ...

    def lost(self, link_id: int, why: str, now_ms: int) -> None: ...

    def turned_away(self, link_id: int, why: str, now_ms: int) -> None: ...


class Shared:
    """The same for a driver whose core others use concurrently.

    The lock is held only while an event is reported, not during the work before: a token of the
    program, a handshake, or a system call on a socket blocks nobody else. The memory from room()
    belongs to the driver until it reports the bytes, even if the link ends before.
    """

    def __init__(self, links: Driven, lock: AbstractContextManager[object]) -> None:
        self._links = links
        self._lock = lock

    def take_effects(self) -> list[Effect]:
        with self._lock:
            return self._links.take_effects()

    def resolved(self, link_id: int, addresses: Iterable[str], now_ms: int) -> None:
        with self._lock:
            self._links.resolved(link_id, addresses, now_ms)

    def connected(self, link_id: int, now_ms: int) -> None:
        with self._lock:
            self._links.connected(link_id, now_ms)

    def login_began(self, link_id: int, told: bytes | Exception, now_ms: int) -> None:
        with self._lock:
            self._links.login_began(link_id, told, now_ms)

    def room(self, link_id: int) -> memoryview:
        with self._lock:
            return self._links.room(link_id)

    def received(self, link_id: int, count: int, now_ms: int) -> bool:
        with self._lock:
            return self._links.received(link_id, count, now_ms)

    def written(self, link_id: int) -> bool:
        with self._lock:
            return self._links.written(link_id)

    def lost(self, link_id: int, why: str, now_ms: int) -> None:
        with self._lock:
            self._links.lost(link_id, why, now_ms)

    def turned_away(self, link_id: int, why: str, now_ms: int) -> None:
        with self._lock:
            self._links.turned_away(link_id, why, now_ms)
