"""Fetching the partitions that one broker leads (ConsumerFetcherThread, AbstractFetcherThread)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from threading import Condition, Event

from logquake.client.classic.consuming.stream import Chunk, PartitionTopicInfo
from logquake.client.classic.consuming.worker import Worker
from logquake.client.classic.requests import Fetched, FetchFrom
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.classic.simple_consumer import SimpleConsumer
from logquake.client.errors import ClientError
from logquake.wire.errors import ErrorCode, RecordError, error_name
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)

_NOTHING_TO_DO_S = 0.2


class BrokerFetcher:
    """``hand_back`` is called with partitions that it can no longer fetch: their leader has
    changed, or was lost.
    """

    def __init__(
        self,
        name: str,
        config: ConsumerConfig,
        consumer: SimpleConsumer,
        hand_back: Callable[[Collection[TopicPartition]], None],
    ) -> None:
        self.lags: dict[TopicPartition, int] = {}
        self._config = config
        self._consumer = consumer
        self._hand_back = hand_back
        self._changed = Condition()
        self._infos: dict[TopicPartition, PartitionTopicInfo] = {}
        self._nothing_at: dict[TopicPartition, int] = {}
        self._worker = Worker(name, self._fetch_once)
        self._worker.start()

    def add(self, infos: Mapping[TopicPartition, PartitionTopicInfo]) -> None:
        with self._changed:
            self._infos.update(infos)
            self._changed.notify_all()

    @property
    def is_idle(self) -> bool:
        with self._changed:
            return not self._infos

    def stop(self) -> None:
        self._worker.stop()
        self._consumer.interrupt()

    def join(self) -> None:
        self._worker.join()
        self._consumer.close()

    def _fetch_once(self, stopping: Event) -> None:
        with self._changed:
            if not self._infos:
                self._changed.wait(_NOTHING_TO_DO_S)
            infos = dict(self._infos)
        failed = self._without_offset(infos)
        asked = {place: info for place, info in infos.items() if place not in failed}
        if asked:
            failed |= self._fetch(asked, stopping)
        if failed and not stopping.is_set():
            with self._changed:
                for place in failed:
                    self._infos.pop(place, None)
                    self.lags.pop(place, None)
            self._hand_back(failed)

    def _without_offset(
        self, infos: Mapping[TopicPartition, PartitionTopicInfo]
    ) -> set[TopicPartition]:
        """Start uncommitted partitions as auto.offset.reset says. Returns those that failed."""
        unknown = [info for info in infos.values() if info.fetched_offset < 0]
        return {info.place for info in unknown if not self._reset(info)}

    def _reset(self, info: PartitionTopicInfo) -> bool:
        """``handleOffsetOutOfRange``. Returns whether the broker knew the offset."""
        topic, partition = info.place
        try:
            offset = self._consumer.earliest_or_latest_offset(
                topic, partition, self._config.auto_offset_reset.time_ms
            )
        except ClientError as error:
            _log.warning("no offset of %s: %s", info.place, error)
            return False
        info.begin_at(offset)
        return True

    def _fetch(
        self, infos: Mapping[TopicPartition, PartitionTopicInfo], stopping: Event
    ) -> set[TopicPartition]:
        """Returns the partitions that failed."""
        size = self._config.fetch_message_max_bytes
        asked = {place: FetchFrom(info.fetched_offset, size) for place, info in infos.items()}
        try:
            told = self._consumer.multifetch(
                asked,
                max_wait_ms=self._config.fetch_wait_max_ms,
                min_bytes=self._config.fetch_min_bytes,
            )
        except ClientError as error:
            if not stopping.is_set():
                _log.warning("a fetch failed: %s", error)
            return set(infos)
        return {
            place
            for place, fetched in told.items()
            if not self._is_taken(infos[place], fetched, stopping)
        }

    def _is_taken(self, info: PartitionTopicInfo, fetched: Fetched, stopping: Event) -> bool:
        """Whether to keep fetching the partition here."""
        if fetched.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            _log.warning("%s has no offset %d", info.place, info.fetched_offset)
            return self._reset(info)
        if fetched.error_code != ErrorCode.NONE:
            _log.info("fetch of %s: %s", info.place, error_name(fetched.error_code))
            return False
        try:
            self._hand_out(info, fetched, stopping)
        except RecordError as error:  # the leader may have truncated its log: retry
            _log.warning("what was fetched of %s makes no sense: %s", info.place, error)
            return False
        return True

    def _hand_out(self, info: PartitionTopicInfo, fetched: Fetched, stopping: Event) -> None:
        offset, after = info.fetched_offset, fetched.messages.next_offset
        self.lags[info.place] = fetched.high_watermark - (offset if after is None else after)
        if after is None and not self._is_too_large(info, fetched):
            return
        is_put = info.buffer.put(Chunk(info, offset, fetched.messages), stopping)
        if is_put and after is not None:
            info.fetched_offset = after
        elif is_put or info.buffer.has_failed:
            self._leave(info)

    def _leave(self, info: PartitionTopicInfo) -> None:
        """Stop fetching for a failed stream: others would wait for room in a full one."""
        with self._changed:
            self._infos.pop(info.place, None)
            self.lags.pop(info.place, None)

    def _is_too_large(self, info: PartitionTopicInfo, fetched: Fetched) -> bool:
        """Whether the next message exceeds the limit: only a part of it came, or twice nothing
        although there is something. A broker that converts from today's format sends nothing.
        """
        if fetched.messages.size_in_bytes:
            return True
        if fetched.high_watermark <= info.fetched_offset:
            return False
        before = self._nothing_at.get(info.place, UNKNOWN_OFFSET)
        self._nothing_at[info.place] = info.fetched_offset
        return before == info.fetched_offset
