"""What becomes of a task's records, so far as it is known."""

from __future__ import annotations

from logquake.client.producer.delivery import RecordMetadata


class Deliveries:
    """Of what became of the records, the first failure is kept."""

    def __init__(self) -> None:
        self._failure: Exception | None = None

    def heard(self, _: RecordMetadata, error: Exception | None) -> None:
        if error is not None:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        self._failure = self._failure or error

    def check(self) -> None:
        """Raises what it was."""
        if self._failure is not None:
            raise self._failure
