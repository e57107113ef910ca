"""Errors that happened between the program's calls; the next call raises them."""

from __future__ import annotations

from logquake.client.errors import ClientError


class Failures:
    """Keeps one error at a time: any other will recur if it still matters."""

    def __init__(self) -> None:
        self._error: ClientError | None = None

    @property
    def any(self) -> bool:
        return self._error is not None

    def note(self, error: object) -> None:
        """Ignores responses without an error, and errors that are retriable."""
        if self._error is None and isinstance(error, ClientError) and not error.retriable:
            self._error = error

    def raise_noted(self) -> None:
        """Raises ClientError, once for each that was noted."""
        error, self._error = self._error, None
        if error is not None:
            raise error
