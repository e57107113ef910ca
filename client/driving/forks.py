"""What becomes of a client in a process that was forked from the one that made it.

The child has the client's memory and descriptors, but not its thread, and a lock that was held at
the fork is held there for ever. The parent goes on with the client, a child makes its own. So each
driver is told at once, in a child, that it belongs to the parent. Comparing process ids in each
call would make each record of a producer more expensive.
"""

from __future__ import annotations

import os
from typing import NoReturn, Protocol
from weakref import WeakSet

from logquake.client.errors import ClosedError


class Inheritable(Protocol):
    def inherit(self) -> None:
        """In a child: it is told this before all else, and must touch nothing of the parent's."""


_DRIVERS: WeakSet[Inheritable] = WeakSet()


def tell_when_forked(driver: Inheritable) -> None:
    _DRIVERS.add(driver)


def why_inherited(name: str) -> ClosedError:
    return ClosedError(
        f"{name} belongs to the process that this one was forked from: make another client here"
    )


class ParentsLock:
    """In the place of the client's own, which nobody may ever give back in a child."""

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
