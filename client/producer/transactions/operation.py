"""A call of the program that waits for brokers (TransactionalRequestResult)."""

from __future__ import annotations

from logquake.client.errors import ClientError


class Operation:
    """``is_heard``: the program knows how it ended. Until then the same call continues the same
    operation.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_done = False
        self.error: ClientError | None = None
        self.is_heard = False

    def succeed(self) -> None:
        self.is_done = True

    def fail(self, error: ClientError) -> None:
        """An error after its end is ignored."""
        if not self.is_done:
            self.error = error
            self.is_done = True
