"""Warns of a client that was never closed, as Python warns of files and sockets: when the program
drops it, and when the program ends.

It is a ResourceWarning, which Python shows with ``-X dev`` or ``-W default``, and otherwise hides.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Protocol
from weakref import ReferenceType, WeakMethod, finalize, ref


class Driver(Protocol):
    @property
    def is_closed(self) -> bool: ...


def tell_if_unclosed(
    client: object,
    driver: Driver,
    client_id: str,
    count_held: Callable[[], int] | None = None,
) -> None:
    """``count_held``, a method of the core, says how many records wait to be written.

    Nothing is kept alive by this: a driver that runs is, by its thread or its loop.
    """
    name = f"{type(client).__name__} {client_id}"
    held = None if count_held is None else WeakMethod(count_held)
    finalize(client, _look, ref(driver), name, held)


def _look(
    driver_of: ReferenceType[Driver], name: str, held: WeakMethod[Callable[[], int]] | None
) -> None:
    driver = driver_of()
    if driver is None or driver.is_closed:
        return
    count_held = held() if held is not None else None
    count = count_held() if count_held is not None else 0
    lost = f", and {count} of its records are not written" if count else ""
    warnings.warn(f"{name} was never closed{lost}", ResourceWarning, stacklevel=3)
