"""Waiting until a topic's partitions are known (KafkaProducer.waitOnMetadata)."""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.arguments import check_topic
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import BrokerError, ProducerClosedError, TimedOutError
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.leaders import PartitionsOfTopic
from logquake.client.producer.sender import Sender
from logquake.wire.errors import ErrorCode

_NOTHING_TO_WAIT_FOR = (ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


class TopicWaits:
    def __init__(
        self,
        metadata: Metadata,
        updates: MetadataUpdates,
        sender: Sender,
        accumulator: Accumulator,
        max_block_ms: int,
        trouble: Callable[[], str],
    ) -> None:
        """``trouble`` is that of `NetworkClient`."""
        self._metadata = metadata
        self._updates = updates
        self._sender = sender
        self._accumulator = accumulator
        self._max_block_ms = max_block_ms
        self._trouble = trouble

    def known(self, topic: str, partition: int | None) -> PartitionsOfTopic | None:
        """The topic's partitions, if they are known, and ``partition`` is one of them."""
        partitions = self._sender.leaders().topics.get(topic)
        if partitions is None or not partitions.all:
            return None
        return partitions if partition is None or partition < len(partitions.all) else None

    def wait(
        self, topic: str, partition: int | None, now_ms: int, deadline_ms: int
    ) -> Steps[PartitionsOfTopic]:
        """Wait for the topic, which counts as in use from now on.

        Raises TimedOutError, BrokerError for an error that does not pass, ProducerClosedError, the
        error of a failed authentication, and TypeError or ValueError for an invalid name.
        """
        check_topic(topic)
        self._check(topic, ErrorCode.INVALID_TOPIC_EXCEPTION)
        is_first = self._metadata.use(topic, now_ms)
        while (known := self.known(topic, partition)) is None:
            if not is_first:
                self._metadata.request_update()
            is_first = False
            yield from self._await_update(topic, partition, deadline_ms)
            self._check(topic, *_NOTHING_TO_WAIT_FOR)
        return known

    def _await_update(self, topic: str, partition: int | None, deadline_ms: int) -> Steps[None]:
        updates = self._metadata.updates
        is_news = yield Wait(
            lambda: (
                self._metadata.updates != updates
                or self._accumulator.is_closed
                or self._updates.fatal is not None
            ),
            deadline_ms,
        )
        if self._accumulator.is_closed:
            raise ProducerClosedError(f"closed while a record waited for what is known of {topic}")
        if self._updates.fatal is not None and self._metadata.updates == updates:
            raise self._updates.fatal
        if not is_news:
            raise TimedOutError(self._told(topic, partition))

    def _check(self, topic: str, *errors: ErrorCode) -> None:
        info = self._metadata.snapshot.topics.get(topic)
        if info is not None and info.error in errors:
            raise BrokerError(info.error, f"topic {topic}")

    def _told(self, topic: str, partition: int | None) -> str:
        known = self.known(topic, None)
        info = self._metadata.snapshot.topics.get(topic)
        if known is not None:
            what = f"partition {partition} of topic {topic}, which has {len(known.all)},"
        else:
            what = f"topic {topic}"
        why = self._trouble()
        if not why and self._updates.failure is not None:
            why = f" ({self._updates.failure})"
        elif not why and info is not None and info.error:
            why = f" ({info.error.name})"
        return f"{what} is not known after max.block.ms={self._max_block_ms}{why}"
