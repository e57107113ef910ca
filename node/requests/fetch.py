"""Fetch (1), versions 0-17: consumers' reads, and followers' replication, by one door.

Versions 0-3 are sent message sets, converted on a worker (downward.py). KIP-74 (v3) bounds the
whole response, and lets a first batch above every bound through; KIP-98 (v4) isolation levels,
KIP-227 (v7) incremental sessions, KIP-320 (v9) leader epochs, KIP-392 (v11) reads from followers,
KIP-595 (v12) truncation by diverging epoch, KIP-516 (v13) topic ids, KIP-903 (v15) the follower's
broker epoch, KIP-951 (v16) the current leader.
Absent: preferred read replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.fetch_sessions import FetchSessions
from logquake.node.replication.purgatories.delayed_fetch import FetchPurgatory
from logquake.node.replication.values import (
    FetchAnswer,
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
    PartitionKey,
    PartitionRead,
)
from logquake.node.requests.current_leader import leader_hint, node_endpoints
from logquake.node.requests.downward import FIRST_VERSION_SENT_AS_STORED, DownConversion
from logquake.node.requests.fetch_access import fetch_access
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import LENGTH_BYTES
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from logquake.wire.schema import encode_parts
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH
from logquake.wire.uuids import ZERO_UUID

_FIRST_VERSION_WITH_MAX_BYTES = 3
_FIRST_VERSION_WITH_STORAGE_ERROR = 6
_FIRST_VERSION_WITH_IDS = 13
_FIRST_VERSION_WITH_REPLICA_STATE = 15
_FIRST_VERSION_WITH_LEADER = 16
_FIRST_VERSION_FROM_FOLLOWERS = 11
_ELSEWHERE = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Fetch(Handler[FetchRequest]):
    key = ApiKey.FETCH
    versions = range(18)

    def __init__(
        self,
        sessions: FetchSessions,
        fetches: FetchPurgatory,
        cache: MetadataCache,
        downward: DownConversion,
        authorizer: Authorizer,
        *,
        max_bytes: int,
    ) -> None:
        """max_bytes: fetch.max.bytes, the most that one response may carry."""
        self._sessions = sessions
        self._fetches = fetches
        self._cache = cache
        self._downward = downward
        self._authorizer = authorizer
        self._max_bytes = max_bytes

    def handle(self, request: Request, body: FetchRequest) -> None:
        version = request.header.api_version
        params = self._params(request, body)
        context = self._sessions.open(
            body.session_id,
            body.session_epoch,
            params,
            by_topic_id=version >= _FIRST_VERSION_WITH_IDS,
            partitions=list(self._partitions(version, body)),
            forgotten=list(_forgotten(version, body)),
        )
        if context.error != ErrorCode.NONE:
            failed = FetchResponse(error_code=context.error)
            # Who has to wait is not even told that (FetchSession.scala: SessionErrorContext).
            request.reply(FetchResponse() if _is_over(request, lambda: failed) else failed)
            return

        def done(reads: Sequence[PartitionRead]) -> None:
            def news() -> FetchResponse:
                """Before it is converted downward."""
                return self._response(version, request.listener, context.news(reads))

            answer = context.throttled() if _is_over(request, news) else context.answer(reads)
            if version >= FIRST_VERSION_SENT_AS_STORED:
                reply(answer, answer.partitions)
                return
            self._downward.convert(
                version,
                answer.partitions,
                from_follower=params.from_follower,
                done=lambda partitions: reply(answer, partitions),
            )

        def reply(
            answer: FetchAnswer, partitions: Sequence[tuple[FetchPartition, FetchResult]]
        ) -> None:
            response = self._response(version, request.listener, partitions)
            response.error_code, response.session_id = answer.error, answer.session_id
            request.reply(response)

        self._fetches.fetch(params, context, done)

    def _params(self, request: Request, body: FetchRequest) -> FetchParams:
        version = request.header.api_version
        if version >= _FIRST_VERSION_WITH_REPLICA_STATE:
            replica_id = body.replica_state.replica_id
            replica_epoch = body.replica_state.replica_epoch
        else:
            replica_id, replica_epoch = body.replica_id, UNKNOWN_BROKER_EPOCH
        max_bytes = min(body.max_bytes, self._max_bytes)
        if request.usage is not None:
            max_bytes = min(max_bytes, request.usage.most_to_fetch)
        return FetchParams(
            replica_id=replica_id,
            replica_epoch=replica_epoch,
            max_wait_ms=body.max_wait_ms,
            min_bytes=min(body.min_bytes, max_bytes),
            max_bytes=max_bytes,
            isolation=_isolation(replica_id, body.isolation_level),
            only_leader=replica_id >= 0 or version < _FIRST_VERSION_FROM_FOLLOWERS,
            hard_max_bytes=version < _FIRST_VERSION_WITH_MAX_BYTES,
            access=fetch_access(self._authorizer, request, from_follower=replica_id >= 0),
        )

    def _partitions(self, version: int, body: FetchRequest) -> Iterator[FetchPartition]:
        by_id = version >= _FIRST_VERSION_WITH_IDS
        for topic in body.topics:
            if by_id:
                name, topic_id = self._cache.topic_name(topic.topic_id), topic.topic_id
            else:
                name, topic_id = topic.topic, ZERO_UUID
            for partition in topic.partitions:
                key: PartitionKey = (topic_id if by_id else topic.topic, partition.partition)
                yield FetchPartition(
                    key=key,
                    topic=name,
                    topic_id=topic_id,
                    partition=partition.partition,
                    fetch_offset=partition.fetch_offset,
                    max_bytes=partition.partition_max_bytes,
                    current_leader_epoch=partition.current_leader_epoch,
                    last_fetched_epoch=partition.last_fetched_epoch,
                    log_start_offset=partition.log_start_offset,
                )

    def _response(
        self,
        version: int,
        listener: ListenerName,
        partitions: Sequence[tuple[FetchPartition, FetchResult]],
    ) -> FetchResponse:
        topics: dict[bytes | str, FetchableTopicResponse] = {}
        leaders: set[int] = set()
        for partition, result in partitions:
            data = _partition_data(version, partition.partition, result)
            if result.error in _ELSEWHERE and version >= _FIRST_VERSION_WITH_LEADER:
                hint = leader_hint(
                    self._cache,
                    partition.topic or "",
                    partition.partition,
                    result.current_leader,
                )
                data.current_leader = LeaderIdAndEpoch(
                    leader_id=hint.leader_id, leader_epoch=hint.leader_epoch
                )
                leaders.add(hint.leader_id)
            topic = topics.get(partition.key[0])
            if topic is None:
                topic = topics[partition.key[0]] = FetchableTopicResponse(
                    topic=partition.topic or "", topic_id=partition.topic_id, partitions=[]
                )
            topic.partitions.append(data)
        return FetchResponse(
            responses=list(topics.values()),
            node_endpoints=node_endpoints(NodeEndpoint, self._cache, listener, leaders),
        )


def _is_over(request: Request, answer: Callable[[], FetchResponse]) -> bool:
    """Whether the client has to wait instead of getting the answer; it counts, else."""

    def size() -> int:
        return LENGTH_BYTES + sum(map(len, encode_parts(answer(), request.header.api_version)))

    return request.usage is not None and request.usage.fetched(size) > 0


def _forgotten(version: int, body: FetchRequest) -> Iterator[PartitionKey]:
    by_id = version >= _FIRST_VERSION_WITH_IDS
    for topic in body.forgotten_topics_data:
        for partition in topic.partitions:
            yield (topic.topic_id if by_id else topic.topic, partition)


def _isolation(replica_id: int, level: int) -> Isolation:
    if replica_id >= 0:
        return Isolation.LOG_END
    return Isolation.TXN_COMMITTED if level == 1 else Isolation.HIGH_WATERMARK


def _partition_data(version: int, index: int, result: FetchResult) -> PartitionData:
    data = PartitionData(
        partition_index=index,
        error_code=_for_version(version, result.error),
        high_watermark=result.high_watermark,
        last_stable_offset=result.last_stable_offset,
        log_start_offset=result.log_start_offset,
        aborted_transactions=_aborted(result),
        records=b"" if result.records is None else result.records,
    )
    if result.diverging_epoch is not None:
        data.diverging_epoch = EpochEndOffset(
            epoch=result.diverging_epoch.leader_epoch, end_offset=result.diverging_epoch.end_offset
        )
    return data


def _aborted(result: FetchResult) -> list[AbortedTransaction] | None:
    if result.aborted is None:
        return None
    return [
        AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
        for each in result.aborted
    ]


def _for_version(version: int, error: ErrorCode) -> ErrorCode:
    """Old consumers take KAFKA_STORAGE_ERROR for fatal; of the other they find the new leader."""
    if error is ErrorCode.KAFKA_STORAGE_ERROR and version < _FIRST_VERSION_WITH_STORAGE_ERROR:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error
