"""What happens to a client in a process that was forked from the one that created it.

The child has the client's memory and descriptors, but not its thread, and a lock that was held at
the fork is held there for ever. The parent keeps using the client, a child has to create its own.
So each driver is told at once, in a child, that it belongs to the parent. Comparing process ids in
each call would slow down each record of a producer.
"""

from __future__ import annotations

import os
from typing import NoReturn, Protocol
from weakref import WeakSet

from logquake.client.errors import ClosedError


class Inheritable(Protocol):
    def inherit(self) -> None:
        """Called first of all in a child; the driver must touch nothing of the parent's."""


_DRIVERS: WeakSet[Inheritable] = WeakSet()


def tell_when_forked(driver: Inheritable) -> None:
    _DRIVERS.add(driver)


def why_inherited(name: str) -> ClosedError:
    return ClosedError(
        f"{name} belongs to the process that this one was forked from: make another client here"
    )


class ParentsLock:
    """Replaces the client's own lock, which may never be released in a child."""

    def __init__(self, name: str) -> None:
        self._name = name

    def acquire(self, _blocking: bool = True, _timeout: float = -1) -> NoReturn:
        raise why_inherited(self._name)

    def release(self) -> None: ...

    def __enter__(self) -> NoReturn:
        self.acquire()

    def __exit__(self, *_: object) -> None: ...


def _tell_all() -> None:
    for driver in list(_DRIVERS):
        driver.inherit()


os.register_at_fork(after_in_child=_tell_all)
