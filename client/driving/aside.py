"""What may take as long as it likes, and goes on beside the core: looking up a host, or asking a
program for a token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Aside(Protocol):
    def __call__(self, function: Callable[[], T], told: Callable[[T | Exception], None], /) -> None:
        """Call it, now or later, and tell what it returned or raised."""


def in_place(function: Callable[[], T], told: Callable[[T | Exception], None], /) -> None:
    """At once, whoever waits."""
    try:
        outcome = function()
    except Exception as error:  # noqa: BLE001 - whoever is told knows what it means
        told(error)
    else:
        told(outcome)
