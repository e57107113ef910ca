"""What the tests ask of a client library, in one shape for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

EARLIEST, LATEST = -2, -1
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A record as it was given to a client, or came from one; the offset is left out."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int = 1_700_000_000_000


class ClientError(Exception):
    """The client gave an error back; ``code`` is Kafka's number."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Writing:
    """How to produce. Batches are closed after each call of write()."""

    acks: str = "all"
    codec: str = "none"
    idempotent: bool = False
    max_request_bytes: int = 1_048_576  # the client's own bound, which comes before the broker's


class Adapter(ABC):
    """One client library. Methods raise ClientError with the broker's code."""

    has_null_headers = True

    def __init__(self, servers: str) -> None:
        self.servers = servers

    @abstractmethod
    def write(
        self, topic: str, partition: int, messages: Sequence[Message], how: Writing
    ) -> list[int]:
        """Their offsets, -1 each with acks=0."""

    @abstractmethod
    def read(self, topic: str, partition: int, count: int, *, offset: int = 0) -> list[Message]:
        """So many messages from an offset on, of an assigned partition."""

    @abstractmethod
    def offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        """EARLIEST, LATEST, or the first at or after a time; -1 if there is none."""

    @abstractmethod
    def create_topic(
        self, name: str, partitions: int, replicas: int, config: Mapping[str, str]
    ) -> None: ...

    @abstractmethod
    def delete_topic(self, name: str) -> None: ...

    @abstractmethod
    def topics(self) -> dict[str, int]:
        """Numbers of partitions by name."""

    def complaints(self) -> list[str]:
        """What the library logged as wrong."""
        return []
