"""What happens to messages without a handler of the program (DefaultEventHandler).

They are serialized, given partitions, and written, with one request per leader, one after another.
Failed ones are retried with new metadata, message.send.max.retries times.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from logquake.client.classic import requests
from logquake.client.classic.errors import FailedToSendError
from logquake.client.classic.messages import Message, encode_messages
from logquake.client.classic.producing.broker_partitions import BrokerPartitions
from logquake.client.classic.producing.collating import Collation, Serialized
from logquake.client.classic.producing.hooks import Messages
from logquake.client.classic.producing.pool import ProducerPool
from logquake.client.classic.producing.statistics import ProducerStatistics
from logquake.client.classic.serializer import Encoder
from logquake.client.classic.settings.producer import ProducerConfig, ProducerType
from logquake.client.classic.topic_metadata import Broker
from logquake.client.clock import SleepingClock
from logquake.client.errors import ClientError, NoLeaderError, ProducerClosedError, broker_error
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)


class DefaultEventHandler:
    """For one thread at a time."""

    def __init__(
        self,
        config: ProducerConfig,
        encoders: tuple[Encoder[Any], Encoder[Any]],
        collation: Collation,
        partitions: BrokerPartitions,
        pool: ProducerPool,
        statistics: ProducerStatistics,
        clock: SleepingClock,
        magic: int,
    ) -> None:
        """``encoders`` are for keys and for messages; ``magic`` is for the written sets."""
        self._config = config
        self._key_encoder, self._encoder = encoders
        self._collation = collation
        self._partitions = partitions
        self._pool = pool
        self._statistics = statistics
        self._clock = clock
        self._magic = magic
        self._refreshed_at_ms: int | None = None
        self._to_refresh: set[str] = set()
        self._is_given_up = False

    def handle(self, messages: Messages) -> None:
        """Raises FailedToSendError; and in the synchronous producer what an encoder raises."""
        left: Sequence[Serialized] = self._serialize(messages)
        failure: ClientError | None = None
        for attempt in range(self._config.message_send_max_retries + 1):
            if not left or self._is_given_up:
                break
            if attempt:
                self._back_off(left)
            self._refresh_by_age(left)
            left, failure = self._dispatch(left)
        if left:
            self._statistics.failed()
            if self._is_given_up:
                failure = ProducerClosedError("the producer was closed")
            raise FailedToSendError(
                f"{len(left)} messages are not acknowledged after "
                f"{self._config.message_send_max_retries} retries: {failure}"
            ) from failure

    def give_up(self) -> None:
        """From any thread: write no more messages."""
        self._is_given_up = True
        self._pool.interrupt()
        self._partitions.interrupt()

    def close(self) -> None:
        """Later calls of handle() fail, since a program's handler may continue after a close."""
        self._is_given_up = True
        self._pool.close()
        self._partitions.close()

    def _serialize(self, messages: Messages) -> list[Serialized]:
        serialized = []
        for each in messages:
            try:
                key = None if each.key is None else self._key_encoder.to_bytes(each.key)
                payload = self._encoder.to_bytes(each.message)
            except Exception:
                self._statistics.not_serialized()
                if self._config.producer_type is ProducerType.SYNC:
                    raise
                _log.exception("a message for %s cannot be serialized", each.topic)
            else:
                self._statistics.serialized(each.topic, len(payload or b""))
                message = Message(payload, key, self._clock.wall_ms())
                serialized.append(Serialized(each.topic, each.partition_key, message))
        return serialized

    def _back_off(self, left: Sequence[Serialized]) -> None:
        self._statistics.resent()
        self._clock.sleep_ms(self._config.retry_backoff_ms)
        self._refresh({each.topic for each in left})

    def _refresh_by_age(self, left: Sequence[Serialized]) -> None:
        """Refresh all topics that were used since the last time."""
        self._to_refresh.update(each.topic for each in left)
        interval_ms, now_ms = self._config.topic_metadata_refresh_interval_ms, self._clock.now_ms()
        last_ms = self._refreshed_at_ms
        if interval_ms >= 0 and (last_ms is None or now_ms - last_ms > interval_ms):
            self._refresh(self._to_refresh)
            self._to_refresh.clear()
            self._refreshed_at_ms = now_ms

    def _refresh(self, topics: set[str]) -> None:
        try:
            self._partitions.refresh(topics)
        except ClientError as error:
            _log.warning("no metadata of %s: %s", ", ".join(sorted(topics)), error)
        self._collation.forget()

    def _dispatch(
        self, messages: Sequence[Serialized]
    ) -> tuple[Sequence[Serialized], ClientError | None]:
        """Returns the failed messages, and the last error."""
        try:
            collated = self._collation.collate(messages, self._partitions.partitions_of)
        except ClientError as error:
            return messages, error
        failed: list[Serialized] = []
        failure: ClientError | None = None
        for leader, by_place in collated.items():
            for place, why in self._send(leader, by_place).items():
                failed += by_place[place]
                failure = why
        return failed, failure

    def _send(
        self, leader: Broker | None, by_place: Mapping[TopicPartition, Sequence[Serialized]]
    ) -> dict[TopicPartition, ClientError]:
        """Returns the failed partitions, and the error."""
        if leader is None:
            return {place: NoLeaderError(f"{place} has no leader") for place in by_place}
        sets = {place: self._message_set(place, each) for place, each in by_place.items()}
        try:
            written = requests.produce(
                self._pool.channel(leader),
                sets,
                acks=self._config.request_required_acks,
                timeout_ms=self._config.request_timeout_ms,
            )
        except ClientError as error:
            self._pool.drop(leader)
            return dict.fromkeys(by_place, error)
        return {
            place: broker_error(each.error_code, f"produce to {place}")
            for place, each in (written or {}).items()
            if each.error_code != ErrorCode.NONE
        }

    def _message_set(self, place: TopicPartition, messages: Sequence[Serialized]) -> bytes:
        topics = self._config.compressed_topics
        codec = self._config.compression_codec
        if topics and place.topic not in topics:
            codec = Codec.NONE
        return encode_messages([each.message for each in messages], codec, self._magic)
