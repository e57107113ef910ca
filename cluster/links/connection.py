"""A proxied connection: two sockets, a stream each way, and how the whole ends."""

from __future__ import annotations

import socket
from collections.abc import Callable
from random import Random
from struct import pack

from logquake.cluster.links.board import Board
from logquake.cluster.links.interception import Handover, Intercept, Interceptor, Way
from logquake.cluster.links.plan import Link
from logquake.cluster.links.shaper import Ending, Shaper
from logquake.cluster.links.stream import Side, Stream
from logquake.node.net.loop import EventLoop
from logquake.seams.scheduler import Scheduler

_RESET_AT_CLOSE = pack("ii", 1, 0)  # struct linger: on, for no time
_OTHER = {Way.REQUESTS: Way.RESPONSES, Way.RESPONSES: Way.REQUESTS}


class Connection:
    """Satisfies interception.Passage. ``dialled_side`` is connected.

    ``before_end`` is asked before who dialled is told that the other end has ended, and calls back;
    ``over`` is called once, when nothing is left of it.
    """

    def __init__(
        self,
        loop: EventLoop,
        link: Link,
        dialler_side: socket.socket,
        dialled_side: socket.socket,
        random: Random,
        scratch: memoryview,
        *,
        before_end: Callable[[Callable[[], None]], None],
        over: Callable[[Connection], None],
    ) -> None:
        self.dialler = link.dialler
        self.dialled = link.dialled
        self.scheduler: Scheduler = loop
        self._before_end = before_end
        self._over = over
        self._is_over = False
        self._sides = Side(loop, dialler_side), Side(loop, dialled_side)
        near, far = self._sides
        self._streams = {
            Way.REQUESTS: self._stream(loop, Way.REQUESTS, near, far, Shaper(random), scratch),
            Way.RESPONSES: self._stream(loop, Way.RESPONSES, far, near, Shaper(random), scratch),
        }
        self._handovers: dict[Way, Handover] = {}
        if link.carries_requests:
            for way, stream in self._streams.items():
                self._handovers[way] = handover = Handover(stream.forward)
                stream.take = handover.take
        self._interceptor: Interceptor | None = None
        self._came_to_end: dict[Way, Ending] = {}  # and that has not been passed on yet

    def obey(self, board: Board) -> None:
        """The faults are others than before, or this is the beginning."""
        if board.is_reset(self.dialler, self.dialled):
            self.reset()
            return
        self._streams[Way.REQUESTS].change(board.conditions(self.dialler, self.dialled))
        if not self._is_over:
            self._streams[Way.RESPONSES].change(board.conditions(self.dialled, self.dialler))

    def offer(self, intercept: Intercept) -> None:
        """Ask for an interceptor if it has none."""
        if self._interceptor is None and self._handovers:
            self._interceptor = interceptor = intercept(self)
            if interceptor is not None:
                for way, handover in self._handovers.items():
                    handover.to(_receiver(interceptor, way))

    def pass_on(self, way: Way, data: bytes | memoryview) -> None:
        self._streams[way].forward(data)

    def end(self, way: Way) -> None:
        how = self._came_to_end.pop(way, None)
        if how is not None and not self._is_over:
            self._streams[way].end(how)

    def rest(self, way: Way, *, resting: bool) -> None:
        if not self._is_over:
            self._streams[way].rest(resting=resting)

    def reset(self) -> None:
        """End it at once, with a reset at both ends."""
        if self._is_over:
            return
        for side in self._sides:
            reset_at_close(side.socket)
        self._close()

    def _stream(
        self,
        loop: EventLoop,
        way: Way,
        source: Side,
        sink: Side,
        shaper: Shaper,
        scratch: memoryview,
    ) -> Stream:
        return Stream(
            loop,
            source,
            sink,
            shaper,
            scratch,
            take_end=lambda how: self._on_source_end(way, how),
            delivered=lambda how: self._on_delivered(way, how),
            no_sink=lambda: self._on_no_sink(way),
        )

    def _on_source_end(self, way: Way, how: Ending) -> None:
        if way is Way.RESPONSES and not self._streams[Way.REQUESTS].has_ended:
            self._before_end(lambda: self._let_end(way, how))
        else:
            self._let_end(way, how)

    def _let_end(self, way: Way, how: Ending) -> None:
        if self._is_over:
            return
        self._came_to_end[way] = how
        handover = self._handovers.get(way)
        if self._interceptor is not None and handover is not None and handover.is_over:
            self._interceptor.end(way)
        else:
            self.end(way)

    def _on_delivered(self, way: Way, how: Ending) -> None:
        back = self._streams[_OTHER[way]]
        if how is Ending.RESET or back.is_broken:
            self.reset()
        elif back.has_told_end:
            self._close()

    def _on_no_sink(self, way: Way) -> None:
        """That its end is gone will come back the other way, if it has not said before."""
        back = self._streams[_OTHER[way]]
        if back.is_broken:
            self.reset()
        elif back.has_ended and _OTHER[way] not in self._came_to_end:
            back.end(Ending.RESET)

    def _close(self) -> None:
        self._is_over = True
        for stream in self._streams.values():
            stream.stop()
        for side in self._sides:
            side.close()
        if self._interceptor is not None:
            self._interceptor.over()
        self._over(self)


def reset_at_close(sock: socket.socket) -> None:
    """Let close() reset the connection, whatever is under way on it."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)


def _receiver(interceptor: Interceptor, way: Way) -> Callable[[memoryview], None]:
    return lambda data: interceptor.receive(way, data)
