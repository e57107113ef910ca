"""Offsets that the oldest consumers keep in ZooKeeper by way of a broker: OffsetCommit and
OffsetFetch 0 (KafkaApis.commitOffsetsToZookeeper, handleOffsetFetchRequestFromZookeeper).

Any broker serves any group so. What lies there and what lies in __consumer_offsets know nothing of
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.wire.errors import ErrorCode
from logquake.wire.java_text import java_length
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.operations import Create, Data, Failed, GetData, Session, SetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, run
from logquake.zk.znodes.consumers import ConsumerOffset, is_valid_path
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.parents import with_parents

T = TypeVar("T")

# The offset, or why there is none: UNKNOWN_TOPIC_OR_PARTITION where nothing was committed.
Found = int | ErrorCode


class ZooKeeperOffsets:
    """Whatever ZooKeeper does not take, or does not answer, is UNKNOWN_SERVER_ERROR."""

    def __init__(self, session: Session, max_metadata_size: int) -> None:
        self._session = session
        self._max_metadata_size = max_metadata_size

    def commit(
        self,
        group: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        done: Callable[[dict[TopicPartition, ErrorCode]], None],
    ) -> None:
        """Their metadata is not kept, but may not be too long all the same."""

        async def write() -> dict[TopicPartition, ErrorCode]:
            return {
                partition: ErrorCode.OFFSET_METADATA_TOO_LARGE
                if java_length(value.metadata) > self._max_metadata_size
                else await _write(ConsumerOffset.path(group, partition), value.offset)
                for partition, value in offsets.items()
            }

        run(self._session, write(), _told(done))

    def fetch(
        self,
        group: str,
        partitions: Sequence[TopicPartition],
        done: Callable[[dict[TopicPartition, Found]], None],
    ) -> None:
        async def read() -> dict[TopicPartition, Found]:
            paths = {each: ConsumerOffset.path(group, each) for each in partitions}
            valid = {each: path for each, path in paths.items() if is_valid_path(path)}
            outcomes = await attempt_all([GetData(path) for path in valid.values()])
            found = dict(zip(valid, map(_found, outcomes), strict=True))
            return {each: found.get(each, ErrorCode.UNKNOWN_SERVER_ERROR) for each in partitions}

        run(self._session, read(), _told(done))


def _told(done: Callable[[T], None]) -> Callable[[T | ZkFailure], None]:
    """Failures are among the answers: no procedure here ends with one."""

    def tell(answer: T | ZkFailure) -> None:
        if isinstance(answer, ZkFailure):
            raise answer
        done(answer)

    return tell


async def _write(path: str, offset: int) -> ErrorCode:
    """As setOrCreateConsumerOffset: what is above the znode is made where it is not there."""
    if not is_valid_path(path):
        return ErrorCode.UNKNOWN_SERVER_ERROR
    data = ConsumerOffset(offset).encode()
    outcome = await attempt(SetData(path, data))
    if isinstance(outcome, Failed) and outcome.error is ZkError.NO_NODE:
        *parents, leaf = with_parents(path)
        await attempt_all([Create(parent) for parent in parents])
        made = await attempt(Create(leaf, data))
        return ErrorCode.UNKNOWN_SERVER_ERROR if isinstance(made, Failed) else ErrorCode.NONE
    return ErrorCode.UNKNOWN_SERVER_ERROR if isinstance(outcome, Failed) else ErrorCode.NONE


def _found(outcome: Data | Failed) -> Found:
    if isinstance(outcome, Failed):
        nothing = outcome.error is ZkError.NO_NODE
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if nothing else ErrorCode.UNKNOWN_SERVER_ERROR
    try:
        return ConsumerOffset.decode(outcome.data).offset
    except MalformedZnode:
        return ErrorCode.UNKNOWN_SERVER_ERROR
