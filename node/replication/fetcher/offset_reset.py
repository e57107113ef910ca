"""A follower whose position lies outside its leader's log asks where that begins and ends.

Kafka's AbstractFetcherThread.fetchOffsetAndTruncate: the leader's end is below ours after an
unclean election; its start is above our end when retention has passed us by.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.replication.fetcher.followed import Followed
from logquake.seams.network import Channel, Disconnected
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.schema import Message
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, UNKNOWN_OFFSET

API_VERSION = 9


class OffsetReset:
    """One run of it. ``done(error)`` is called at the end; after NONE the log is within range.

    ``is_current`` says whether the partition is still followed in the same leader epoch: if not,
    the log is left alone and ``done`` is not called. A disk that fails takes the partition offline.
    """

    def __init__(
        self,
        broker_id: int,
        channel: Channel,
        followed: Followed,
        is_current: Callable[[], bool],
        done: Callable[[ErrorCode], None],
    ) -> None:
        self._broker_id = broker_id
        self._channel = channel
        self._followed = followed
        self._is_current = is_current
        self._done = done

    def start(self) -> None:
        self._ask(LATEST_TIMESTAMP, self._on_latest)

    def _on_latest(self, leader_end: int) -> None:
        replica = self._followed.partition.replica
        if leader_end < replica.end:
            replica.truncate_to(leader_end, f"the leader's log ends at {leader_end}")
            self._touch()
            self._done(ErrorCode.NONE)
        else:
            self._ask(EARLIEST_TIMESTAMP, self._on_earliest)

    def _on_earliest(self, leader_start: int) -> None:
        replica = self._followed.partition.replica
        if leader_start > replica.end:
            replica.restart_at(leader_start, f"the leader's log starts at {leader_start}")
            self._touch()
        self._done(ErrorCode.NONE)

    def _touch(self) -> None:
        partition = self._followed.partition
        partition.context.touched(partition)

    def _ask(self, timestamp: int, then: Callable[[int], None]) -> None:
        def answered(response: Message | Disconnected) -> None:
            if not self._is_current():
                return
            error, offset = _offset_in(response)
            if error is not ErrorCode.NONE:
                self._done(error)
                return
            try:
                then(offset)
            except StorageError as failure:
                self._followed.partition.go_offline(str(failure))
                self._done(ErrorCode.KAFKA_STORAGE_ERROR)

        self._channel.send(self._request(timestamp), API_VERSION, answered)

    def _request(self, timestamp: int) -> ListOffsetsRequest:
        partition = self._followed.partition
        asked = ListOffsetsPartition(
            partition_index=partition.index,
            current_leader_epoch=self._followed.leader_epoch,
            timestamp=timestamp,
        )
        return ListOffsetsRequest(
            replica_id=self._broker_id,
            topics=[ListOffsetsTopic(name=partition.topic, partitions=[asked])],
        )


def _offset_in(response: Message | Disconnected) -> tuple[ErrorCode, int]:
    """The one partition's answer; an error for whatever else came."""
    if not isinstance(response, ListOffsetsResponse):
        return ErrorCode.NETWORK_EXCEPTION, UNKNOWN_OFFSET
    for topic in response.topics:
        for partition in topic.partitions:
            return ErrorCode.of_peer(partition.error_code), partition.offset
    return ErrorCode.UNKNOWN_SERVER_ERROR, UNKNOWN_OFFSET
