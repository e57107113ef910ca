"""What the network core wants done; a driver does it, and reports the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from logquake.wire.schema import Part


class Node(NamedTuple):
    """A broker, by its id; those that a client was configured with have negative ones."""

    id: int
    host: str
    port: int
    rack: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Resolve(NamedTuple):
    """Look up the addresses of a host: told with resolved() or lost()."""

    link: int
    host: str


class Connect(NamedTuple):
    """Make a connection, TLS included: told with connected(), turned_away() or lost().

    ``host`` is the name that a certificate has to bear.
    """

    link: int
    address: str
    port: int
    host: str


class LogIn(NamedTuple):
    """Have a login's first frame made, which may ask the program for a token: told with
    login_began(). Nobody has to have the core to himself for it.
    """

    link: int
    first_frame: Callable[[], bytes]


class Write(NamedTuple):
    """Send the parts after all that was to be written before: told with written()."""

    link: int
    parts: list[Part]


class Close(NamedTuple):
    """Nothing more is to be told of the link."""

    link: int


Effect = Resolve | Connect | LogIn | Write | Close
