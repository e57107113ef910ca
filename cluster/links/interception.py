"""Where requests can be read on their way: between what was read of a socket and what is shaped.

An ``Interceptor`` stands in one connection and gets all bytes of both ways; what it hands to its
``Passage`` goes on, as if it had just been read, through the shaper of that way, which delays or
cuts as before. So it may pass bytes on as they are, later, twice, changed or never, and answer a
request itself by passing bytes on the way back:

    class FailOnce:
        def __init__(self, passage: Passage) -> None: ...
        def receive(self, way: Way, data: memoryview) -> None:
            self._passage.pass_on(way, data)         # or bytes of its own, or nothing
        def end(self, way: Way) -> None:
            self._passage.end(way)                   # once all that is held has been passed on
        def over(self) -> None: ...                  # let go of timers

requests/injections.py is asked for interceptors: once for each connection that is made, and again
for those that have none whenever the faults are others; None means that nobody wants to read there,
and costs nothing. A connection that lives already is joined at the next frame's beginning of each
way (FrameMeter), so an interceptor sees whole frames only, but answers to requests that it has not
seen may come first: match them by correlation id. Once there, it stays until the connection ends.
Links that carry no requests in the open (TLS, ZooKeeper's) have none.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from struct import Struct
from typing import Protocol

from logquake.seams.scheduler import Scheduler

_SIZE = Struct(">i")


class Way(Enum):
    """Which of a connection's two directions."""

    REQUESTS = auto()  # from who dialled
    RESPONSES = auto()  # to who dialled


class Passage(Protocol):
    """What an interceptor has of its connection, which runs from ``dialler`` to ``dialled``."""

    dialler: str
    dialled: str
    scheduler: Scheduler

    def pass_on(self, way: Way, data: bytes | memoryview) -> None:
        """Let bytes go on; they are copied if they have to wait. After the end nothing happens."""

    def end(self, way: Way) -> None:
        """Let the end that came that way go on, behind what was passed on."""

    def rest(self, way: Way, *, resting: bool) -> None:
        """Whether no more of that way is to be read for now."""

    def reset(self) -> None:
        """End the connection, with a reset at both ends."""


class Interceptor(Protocol):
    def receive(self, way: Way, data: memoryview) -> None:
        """Bytes that came; they are overwritten when this returns."""

    def end(self, way: Way) -> None:
        """No more come: Passage.end() is to be called once all that is held has been passed on."""

    def over(self) -> None:
        """The connection is: nothing goes on any more."""


Intercept = Callable[[Passage], Interceptor | None]


class FrameMeter:
    """Counts through frames, each a size of four bytes and its content, to know where one begins.

    Bytes that are no frames do no harm: then no beginning is found.
    """

    def __init__(self) -> None:
        self._left = 0  # of the frame that has begun
        self._size = b""  # the first bytes of a size that is not whole yet
        self._is_lost = False

    def advance(self, data: memoryview) -> None:
        """These bytes passed."""
        at, end = 0, len(data)
        while at < end and not self._is_lost:
            if self._left:
                step = min(self._left, end - at)
                self._left -= step
            else:
                step = min(4 - len(self._size), end - at)
                self._take_size(bytes(data[at : at + step]))
            at += step

    def to_beginning(self, data: memoryview) -> int | None:
        """How many of these bytes, which come next, belong to a frame that has begun.

        None if none begins in or right before them.
        """
        if self._is_lost or self._size or self._left >= len(data):
            return None
        return self._left

    def _take_size(self, piece: bytes) -> None:
        self._size += piece
        if len(self._size) == 4:
            (self._left,) = _SIZE.unpack(self._size)
            self._size = b""
            self._is_lost = self._left < 0


class Handover:
    """Lets bytes through until it hands them over to another, at the beginning of a frame."""

    def __init__(self, forward: Callable[[memoryview], None]) -> None:
        self._forward = forward
        self._meter = FrameMeter()
        self._receiver: Callable[[memoryview], None] | None = None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    def to(self, receiver: Callable[[memoryview], None]) -> None:
        """From the next frame on."""
        self._receiver = receiver

    def take(self, data: memoryview) -> None:
        if self._receiver is not None and not self._is_over:
            begun = self._meter.to_beginning(data)
            if begun is not None:
                self._is_over = True
                if begun:
                    self._forward(data[:begun])
                data = data[begun:]
        if self._receiver is not None and self._is_over:
            self._receiver(data)
        else:
            self._meter.advance(data)
            self._forward(data)
