"""One request's place in the order of its connection's answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from logquake.wire.header import RequestHeader, encode_response
from logquake.wire.schema import Message, Part


class Answered(Protocol):
    """Who sends the answers of its slots, in their order."""

    is_open: bool

    def on_answered(self) -> None:
        """A slot was answered."""


class Slot:
    """Kept in the connection's queue until it is answered and everything before it is.

    ``parts`` are the encoded answer, None while there is none. ``close_reason`` is set when the
    answer is the end of the connection. ``next_may_follow`` is the handler's word.
    """

    __slots__ = ("_connection", "_header", "close_reason", "next_may_follow", "parts", "size")

    def __init__(self, connection: Answered, header: RequestHeader, size: int) -> None:
        self._connection = connection
        self._header = header
        self.size = size
        self.parts: Sequence[Part] | None = None
        self.close_reason: str | None = None
        self.next_may_follow = False

    @property
    def api_key(self) -> int:
        return self._header.api_key

    def reply(self, message: Message | None) -> None:
        """Answer with message, or with nothing. Raises RuntimeError the second time.

        What cannot be written ends the connection: a name of 32767 bytes leaves no room for an
        error message that quotes it.
        """
        header = self._header
        if message is None or not self._connection.is_open:
            self._answer(())
            return
        try:
            parts = encode_response(header.correlation_id, message, header.api_version)
        except ValueError as error:
            self.close(f"an answer that cannot be written: {error}")
            return
        self._answer(parts)

    def close(self, why: str) -> None:
        """Answer by closing, once the requests before this one are answered."""
        self.close_reason = why
        self._answer(())

    def _answer(self, parts: Sequence[Part]) -> None:
        if self.parts is not None:
            raise RuntimeError(f"answered twice: {self._header}")
        self.parts = parts
        self._connection.on_answered()
