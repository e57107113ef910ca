"""What a program sends (org.apache.kafka.clients.producer.ProducerRecord)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]


class ProducerRecord(NamedTuple):
    """Key and value are the program's objects, before serialization.

    ``partition`` None: by the key, or any. ``timestamp_ms`` None: when it is sent.
    """

    topic: str
    value: Any = None
    key: Any = None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: Headers = ()
