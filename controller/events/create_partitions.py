"""CreatePartitions (37): topics grow; their assignments are written, the watch does the rest.

ZkAdminManager.createPartitions. What ZooKeeper has of a topic decides, and is written over the
version that was read, so that nobody else's change is lost. The answer does not wait for leaders:
the broker that asks does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from logquake.controller.journal_events import PARTITIONS_CREATED
from logquake.controller.rules.growth import new_partitions
from logquake.controller.rules.mutations import MayMutate, any_mutations, check_mutations
from logquake.controller.rules.topic_rules import TopicRefused, check_partition_count
from logquake.controller.term import Term
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from logquake.zk.operations import Failed, GetData, SetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TopicAssignment

TOPICS_AT_ONCE = 100
"""What grows before an election gets its turn."""


class PartitionCreation:
    """One request. Each topic by itself: one that is refused does not hinder the others."""

    def __init__(
        self,
        request: CreatePartitionsRequest,
        reply: Callable[[CreatePartitionsResponse], None],
        may_mutate: MayMutate = any_mutations,
    ) -> None:
        self._request = request
        self._reply = reply
        self._may_mutate = may_mutate
        self._named = Counter(topic.name for topic in request.topics)
        self._topics = list({topic.name: topic for topic in request.topics}.values())
        self._results: dict[str, CreatePartitionsTopicResult] = {}
        self._in_doubt: tuple[str, TopicAssignment] | None = None

    @property
    def is_in_doubt(self) -> bool:
        """A topic was written and ZooKeeper's answer did not come: it may have grown."""
        return self._in_doubt is not None

    async def carry_out(self, term: Term) -> None:
        """Raises ControllerMoved, ZkFailure; refuse_rest() must follow then."""
        async for topics in term.pieces(self._topics, TOPICS_AT_ONCE):
            for topic in topics:
                self._results[topic.name] = await self._result(term, topic)
        self._answer()

    async def settle(self) -> None:
        """See whether the topic in doubt has grown. Raises ZkFailure."""
        if self._in_doubt is not None:
            topic, grown = self._in_doubt
            found = await attempt(GetData(TopicAssignment.path(topic)))
            if isinstance(found, Failed):
                if found.error is not ZkError.NO_NODE:
                    raise ZkFailure(found)
            elif found.data == grown.encode():
                self._results[topic] = CreatePartitionsTopicResult(name=topic)
        self._in_doubt = None

    def refuse_rest(self, code: ErrorCode) -> None:
        """Answer, with this code for all that was not come to."""
        for topic in self._topics:
            refused = CreatePartitionsTopicResult(name=topic.name, error_code=code)
            self._results.setdefault(topic.name, refused)
        self._answer()

    def _answer(self) -> None:
        results = [self._results[topic.name] for topic in self._topics]
        self._reply(CreatePartitionsResponse(results=results))

    async def _result(
        self, term: Term, topic: CreatePartitionsTopic
    ) -> CreatePartitionsTopicResult:
        result = CreatePartitionsTopicResult(name=topic.name)
        try:
            self._check(term, topic.name)
            await self._grow(term, topic)
        except TopicRefused as refused:
            result.error_code, result.error_message = refused.code, refused.message
        return result

    def _check(self, term: Term, topic: str) -> None:
        """What KafkaApis refuses before anything else."""
        if self._named[topic] > 1:
            raise TopicRefused(ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
        if topic in term.context.topics_to_delete:
            raise TopicRefused(
                ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is queued for deletion."
            )

    async def _grow(self, term: Term, topic: CreatePartitionsTopic) -> None:
        """Raises TopicRefused, ControllerMoved, ZkFailure."""
        existing, version = await _read(topic.name)
        grown = _grown(term, topic, existing)
        if self._request.validate_only:
            return
        check_mutations(self._may_mutate, len(grown.partitions) - len(existing.partitions))
        while not await self._write(term, topic.name, grown, version):
            existing, version = await _read(topic.name)
            if existing == grown:  # the answer to our own first attempt was lost
                break
            grown = _grown(term, topic, existing)
        after = {str(number): list(ids) for number, ids in sorted(grown.partitions.items())}
        term.note(PARTITIONS_CREATED, topic.name, "a client asked for it", after=after)

    async def _write(self, term: Term, topic: str, grown: TopicAssignment, version: int) -> bool:
        """Whether nobody wrote it meanwhile. Raises ControllerMoved, ZkFailure."""
        self._in_doubt = (topic, grown)
        write = SetData(TopicAssignment.path(topic), grown.encode(), version)
        (outcome,) = await term.zk.write_each([write])
        self._in_doubt = None
        return not isinstance(outcome, Failed)


async def _read(topic: str) -> tuple[TopicAssignment, int]:
    """What ZooKeeper has, and its version. Raises TopicRefused, ZkFailure."""
    read = await attempt(GetData(TopicAssignment.path(topic)))
    if isinstance(read, Failed):
        if read.error is not ZkError.NO_NODE:
            raise ZkFailure(read)
        raise _unknown(topic)
    try:
        existing = TopicAssignment.decode(read.data)
    except MalformedZnode as malformed:
        raise _unknown(topic) from malformed
    if existing.adding or existing.removing:
        raise TopicRefused(
            ErrorCode.REASSIGNMENT_IN_PROGRESS,
            f"A partition reassignment is in progress for the topic '{topic}'.",
        )
    return existing, read.stat.version


def _unknown(topic: str) -> TopicRefused:
    return TopicRefused(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist."
    )


def _grown(term: Term, topic: CreatePartitionsTopic, existing: TopicAssignment) -> TopicAssignment:
    check_partition_count(topic.count, term.settings.max_partitions_per_topic)
    assigned = None
    if topic.assignments is not None:
        assigned = [tuple(each.broker_ids) for each in topic.assignments]
    added = new_partitions(
        topic.name, existing.partitions, topic.count, assigned, term.context.active_racks()
    )
    return replace(existing, partitions={**existing.partitions, **added})
