"""What a task needs of its clients: `Producer` and `Admin` satisfy it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from logquake.client.admin import ByBroker, ConsumerGroupListing
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.record import Headers
from logquake.client.producer.runs import OnFailure, Rows
from logquake.wire.topic_partition import TopicPartition

T_co = TypeVar("T_co", covariant=True)


class Answer(Protocol[T_co]):
    def result(self) -> T_co:
        """Waits for it. Raises ClientError."""


class Sending(Protocol):
    def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
        on_delivery: Callable[[RecordMetadata, Exception | None], object] | None = None,
    ) -> object: ...

    def send_rows(self, topic: str, rows: Rows, on_failure: OnFailure) -> None: ...

    def flush(self) -> None: ...

    def init_transactions(self) -> None: ...

    def transaction(self) -> AbstractContextManager[None]: ...

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_metadata: ConsumerGroupMetadata,
    ) -> None: ...


class ReadingMarks(Protocol):
    def list_consumer_group_offsets(
        self,
        groups: Mapping[str, Collection[TopicPartition] | None],
        *,
        require_stable: bool = False,
    ) -> Mapping[str, Answer[Mapping[TopicPartition, OffsetAndMetadata | None]]]: ...

    def list_consumer_groups(self) -> Answer[ByBroker[ConsumerGroupListing]]: ...
