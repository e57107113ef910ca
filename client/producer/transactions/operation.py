"""A call of the program's that waits for brokers (TransactionalRequestResult)."""

from __future__ import annotations

from logquake.client.errors import ClientError


class Operation:
    """``is_heard``: the program knows how it ended. Until then it may ask again, and hears of the
    same operation.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_done = False
        self.error: ClientError | None = None
        self.is_heard = False

    def succeed(self) -> None:
        self.is_done = True

    def fail(self, error: ClientError) -> None:
        """What comes after its end is of no interest."""
        if not self.is_done:
            self.error = error
            self.is_done = True
