"""ElectLeaders (43), versions 0-2: preferred or unclean elections on request (KIP-183, KIP-460).

The controller elects; the answer waits, up to the request's own time-out, until the metadata of
this broker shows the leaders that were elected. Asked for all partitions, it leaves out those that
needed no election.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from logquake.controller.controller import Controller
from logquake.controller.events.elect_leaders import (
    ElectionRequest,
    ElectionResult,
    ElectionType,
    Results,
    with_error,
)
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.seams.scheduler import Scheduler
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.reassignment import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from logquake.wire.topic_partition import TopicPartition


class ElectLeaders(Handler[ElectLeadersRequest]):
    key = ApiKey.ELECT_LEADERS
    versions = range(3)

    def __init__(
        self,
        controller: Controller,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        scheduler: Scheduler,
    ) -> None:
        self._controller = controller
        self._cache = cache
        self._waiters = waiters
        self._scheduler = scheduler

    def handle(self, request: Request, body: ElectLeadersRequest) -> None:
        asked = self._asked(body)
        if body.election_type not in ElectionType.__members__.values():
            code = ErrorCode.UNKNOWN_SERVER_ERROR  # Kafka fails to read the type
            refused = with_error(asked if body.topic_partitions else (), code)
            request.reply(_response(refused, code))
            return
        until_ms = self._scheduler.now_ms() + body.timeout_ms

        def held(results: Results) -> None:
            self._wait_until_known(request, body, results, until_ms - self._scheduler.now_ms())

        self._controller.elect_leaders(
            ElectionRequest(ElectionType(body.election_type), asked), held
        )

    def _asked(self, body: ElectLeadersRequest) -> list[TopicPartition]:
        if body.topic_partitions is None:
            return [
                TopicPartition(topic, index)
                for topic, image in self._cache.images()
                for index in image.partitions
            ]
        return list(
            dict.fromkeys(
                TopicPartition(topic.topic, index)
                for topic in body.topic_partitions
                for index in topic.partitions
            )
        )

    def _wait_until_known(
        self, request: Request, body: ElectLeadersRequest, results: Results, timeout_ms: int
    ) -> None:
        elected = {
            each: result.leader
            for each, result in results.items()
            if result.error is ErrorCode.NONE
        }

        def finish() -> None:
            late = with_error(self._unknown(elected), ErrorCode.REQUEST_TIMED_OUT)
            told = {**results, **late}
            request.reply(_response(told if body.topic_partitions is not None else _needed(told)))

        self._waiters.wait(lambda: not self._unknown(elected), timeout_ms, finish)

    def _unknown(self, elected: Mapping[TopicPartition, int]) -> list[TopicPartition]:
        """Those whose leader is another, as far as clients are told."""
        states = {each: self._cache.partition(*each) for each in elected}
        return [
            each for each, state in states.items() if state is None or state.leader != elected[each]
        ]


def _needed(results: Results) -> dict[TopicPartition, ElectionResult]:
    return {
        each: result
        for each, result in results.items()
        if result.error is not ErrorCode.ELECTION_NOT_NEEDED
    }


def _response(results: Results, error: ErrorCode = ErrorCode.NONE) -> ElectLeadersResponse:
    by_topic = groupby(sorted(results), key=lambda partition: partition.topic)
    return ElectLeadersResponse(
        error_code=error,
        replica_election_results=[
            ReplicaElectionResult(topic=topic, partition_result=_partitions(results, partitions))
            for topic, partitions in by_topic
        ],
    )


def _partitions(results: Results, partitions: Iterable[TopicPartition]) -> list[PartitionResult]:
    return [
        PartitionResult(
            partition_id=each.partition,
            error_code=results[each].error,
            error_message=results[each].message,
        )
        for each in partitions
    ]
