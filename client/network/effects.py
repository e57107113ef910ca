"""What the network core wants done; a driver does it, and reports the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from logquake.wire.schema import Part


class Node(NamedTuple):
    """A broker, by its id; those from the configuration have negative ids."""

    id: int
    host: str
    port: int
    rack: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Resolve(NamedTuple):
    """Look up the addresses of a host, and report with resolved() or lost()."""

    link: int
    host: str


class Connect(NamedTuple):
    """Connect, including TLS, and report with connected(), turned_away() or lost().

    ``host`` is the name that the certificate must contain.
    """

    link: int
    address: str
    port: int
    host: str


class LogIn(NamedTuple):
    """Make a login's first frame, which may ask the program for a token, and report with
    login_began(). This does not need the core's lock.
    """

    link: int
    first_frame: Callable[[], bytes]


class Write(NamedTuple):
    """Send the parts after all earlier writes, and report with written()."""

    link: int
    parts: list[Part]


class Close(NamedTuple):
    """Close the connection, and report nothing more about the link."""

    link: int


Effect = Resolve | Connect | LogIn | Write | Close
