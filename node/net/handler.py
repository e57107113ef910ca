"""What the connections ask of the broker behind them."""

from __future__ import annotations

from typing import Protocol

from logquake.node.requests.request import Request


class RequestHandler(Protocol):
    """The broker, as the connections see it."""

    def handle(self, request: Request) -> None:
        """Take a request whose key and version are served; see to its reply, now or later."""

    def end_of_pass(self) -> None:
        """All that was readable has been handed on: commit, then answer what waits for it.

        After this the bytes that requests of this pass point to may be overwritten.
        """
