"""What a batch is built around, whoever has encoded it."""

from __future__ import annotations

from typing import Protocol


class Payload(Protocol):
    """The records of one batch, encoded; `BatchPayload` says what is what."""

    @property
    def base_offset(self) -> int: ...

    @property
    def base_timestamp(self) -> int | None: ...

    @property
    def max_timestamp(self) -> int: ...

    @property
    def last_offset(self) -> int | None: ...

    @property
    def count(self) -> int: ...

    def encoded(self) -> bytes | memoryview: ...
