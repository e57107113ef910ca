"""Where a group's offsets are kept: in ZooKeeper, in Kafka, or, during a migration, in both
(ZookeeperConsumerConnector.commitOffsets and fetchOffsets).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from threading import Event, Lock
from typing import Protocol

from logquake.client.classic import offset_requests, requests
from logquake.client.classic.channel import Channel, Dial
from logquake.client.classic.consuming import group as znodes
from logquake.client.classic.consuming.statistics import ConsumerStatistics
from logquake.client.classic.coordination.brokers import live_brokers
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.offset_requests import Committed, KeptIn
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.errors import ClientError, ClosedError, ConnectionLostError, broker_error
from logquake.client.settings.addresses import Address
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

_log = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, int]

_NOT_MENDED_BY_TIME = frozenset({ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE})
# The second is 0.8.2's code for no committed offset. No other error means that: the consumer would
# start as auto.offset.reset says, and lose messages, or read all of them again.
_TOLD = frozenset({ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


class OffsetStore(Protocol):
    """Threads may share it, and wait for one another. Negative offsets are not committed."""

    def commit(self, offsets: Offsets) -> None:
        """One attempt. Raises ClientError."""

    def fetch(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """UNKNOWN_OFFSET if nothing is committed. Raises ClientError."""

    def close(self) -> None: ...


class OffsetsInZooKeeper:
    """Writes only offsets that have changed."""

    def __init__(self, zk: ZkClient, group: str, statistics: ConsumerStatistics) -> None:
        self._zk = zk
        self._group = group
        self._statistics = statistics
        self._lock = Lock()
        self._known: dict[TopicPartition, int] = {}

    def commit(self, offsets: Offsets) -> None:
        with self._lock:
            changed = {
                place: offset
                for place, offset in offsets.items()
                if offset >= 0 and self._known.get(place) != offset
            }
            if changed:
                self._zk.run(znodes.put_offsets(self._group, changed))
                self._known |= changed
                self._statistics.committed("ZooKeeperCommitsPerSec", len(changed))

    def fetch(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        with self._lock:
            found = self._zk.run(znodes.offsets_of(self._group, places))
            self._known = dict(found)
            return found

    def close(self) -> None: ...


class OffsetsInKafka:
    """At the group's coordinator, which is looked up if unknown, or after it has moved.

    ``beside`` keeps them too during a migration (dual.commit.enabled): of the two offsets, the
    later one is read.
    """

    def __init__(
        self,
        zk: ZkClient,
        config: ConsumerConfig,
        dial: Dial,
        stopping: Event,
        statistics: ConsumerStatistics,
        beside: OffsetsInZooKeeper | None,
    ) -> None:
        self._zk = zk
        self._config = config
        self._dial = dial
        self._stopping = stopping
        self._statistics = statistics
        self._beside = beside
        self._lock = Lock()
        self._channel: Channel | None = None

    def commit(self, offsets: Offsets) -> None:
        known = {place: offset for place, offset in offsets.items() if offset >= 0}
        if not known:
            return
        with self._lock:
            codes = self._commit_to(self._coordinator(), known)
            self._statistics.committed("KafkaCommitsPerSec", len(known))
            done = {place: known[place] for place, code in codes.items() if not code}
            if self._beside is not None:
                self._beside.commit(done)
            for place, code in codes.items():
                if code not in _NOT_MENDED_BY_TIME:
                    self._hang_up()
                    raise broker_error(code, f"commit of {self._config.group_id} in {place}")

    def fetch(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Retries while the coordinator cannot answer, for instance while it loads them."""
        if not places:
            return {}
        failure: ClientError = ClosedError("the consumer was shut down")
        for _ in range(self._config.offsets_commit_max_retries + 1):
            if self._stopping.is_set():
                break
            try:
                with self._lock:
                    return self._later_of_both(self._fetch_from(self._coordinator(), places))
            except ClientError as error:
                failure = error
            self._stopping.wait(self._config.offsets_channel_backoff_ms / 1000)
        raise failure

    def close(self) -> None:
        with self._lock:
            self._hang_up()

    def _commit_to(self, coordinator: Channel, offsets: Offsets) -> dict[TopicPartition, int]:
        try:
            return offset_requests.commit_offsets(
                coordinator, self._config.group_id, offsets, KeptIn.KAFKA
            )
        except ClientError:
            self._hang_up()
            raise

    def _fetch_from(
        self, coordinator: Channel, places: Collection[TopicPartition]
    ) -> dict[TopicPartition, Committed]:
        try:
            found = offset_requests.fetch_offsets(
                coordinator, self._config.group_id, places, KeptIn.KAFKA
            )
        except ClientError:
            self._hang_up()
            raise
        for place, each in found.items():
            if each.error_code not in _TOLD:
                self._hang_up()
                raise broker_error(each.error_code, f"offset of {place}")
        return found

    def _later_of_both(
        self, found: Mapping[TopicPartition, Committed]
    ) -> dict[TopicPartition, int]:
        beside: Offsets = self._beside.fetch(found) if self._beside is not None else {}
        return {
            place: max(each.offset, beside.get(place, UNKNOWN_OFFSET))
            for place, each in found.items()
        }

    def _coordinator(self) -> Channel:
        """``channelToOffsetManager``. Raises ClientError."""
        if self._channel is None:
            address = self._find()
            self._channel = self._dial(
                address, self._config.client_id, self._config.offsets_channel_socket_timeout_ms
            )
        return self._channel

    def _find(self) -> Address:
        """Any broker knows; in a new cluster it first creates the topic, so this retries."""
        failure: ClientError = ConnectionLostError("there is no broker to ask for a coordinator")
        for _ in range(self._config.offsets_commit_max_retries + 1):
            for broker in self._zk.run(live_brokers()):
                channel = self._dial(
                    broker.address,
                    self._config.client_id,
                    self._config.offsets_channel_socket_timeout_ms,
                )
                try:
                    return requests.coordinator(channel, self._config.group_id)
                except ClientError as error:
                    failure = error
                finally:
                    channel.disconnect()
            if self._stopping.wait(self._config.offsets_channel_backoff_ms / 1000):
                break
        raise failure

    def _hang_up(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.disconnect()
