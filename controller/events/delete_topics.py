"""DeleteTopics (20): topics are marked in /admin/delete_topics; the watch does the rest.

By name, or since version 6 by id (KIP-516). The answer does not wait until they are gone: the
broker that asks does. A topic that is marked already is no failure (ZkAdminManager.deleteTopics).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from logquake.controller.rules.mutations import MayMutate, any_mutations
from logquake.controller.rules.topic_rules import TopicRefused
from logquake.controller.term import Term
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from logquake.wire.uuids import ZERO_UUID
from logquake.zk.operations import Create, Exists, Failed, ZkError
from logquake.zk.procedure import ZkFailure, perform
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.topics import TopicAssignment

TOPICS_AT_ONCE = 100
"""What is marked before an election gets its turn."""


class DeletionRequest:
    """One request, each topic by itself."""

    def __init__(
        self,
        request: DeleteTopicsRequest,
        reply: Callable[[DeleteTopicsResponse], None],
        may_mutate: MayMutate = any_mutations,
    ) -> None:
        by_name = [DeleteTopicState(name=name) for name in request.topic_names]
        self._wanted = [*by_name, *request.topics]
        self._reply = reply
        self._may_mutate = may_mutate
        self._results: dict[int, DeletableTopicResult] = {}  # by place in the request
        self._in_doubt: dict[int, DeletableTopicResult] = {}

    @property
    def is_in_doubt(self) -> bool:
        """Marks were written and ZooKeeper's answer did not come: they may be there."""
        return bool(self._in_doubt)

    async def carry_out(self, term: Term) -> None:
        """Raises ControllerMoved, ZkFailure; refuse_rest() must follow then."""
        async for places in term.pieces(range(len(self._wanted)), TOPICS_AT_ONCE):
            await self._ask_for(term, places)
        self._answer()

    async def settle(self) -> None:
        """See which of the marks in doubt are there, or have done their work. Raises ZkFailure."""
        for place, result in self._in_doubt.items():
            if await _is_going(str(result.name)):
                self._results[place] = result
        self._in_doubt = {}

    def refuse_rest(self, code: ErrorCode) -> None:
        """Answer, with this code for all that was not come to."""
        for place, topic in enumerate(self._wanted):
            refused = DeletableTopicResult(
                name=topic.name, topic_id=topic.topic_id, error_code=code
            )
            self._results.setdefault(place, refused)
        self._answer()

    def _answer(self) -> None:
        results = [self._results[place] for place in range(len(self._wanted))]
        self._reply(DeleteTopicsResponse(responses=results))

    async def _ask_for(self, term: Term, places: Iterable[int]) -> None:
        results = {place: _resolved(term, self._wanted[place]) for place in places}
        self._refuse_beyond_quota(term, results.values())
        known = {place: one for place, one in results.items() if one.error_code == ErrorCode.NONE}
        self._in_doubt = known
        await _mark(term, [str(result.name) for result in known.values()])
        self._in_doubt = {}
        self._results |= results

    def _refuse_beyond_quota(self, term: Term, results: Iterable[DeletableTopicResult]) -> None:
        """A topic that is named twice counts once."""
        allowed: dict[str | None, bool] = {}
        for result in results:
            if result.error_code == ErrorCode.NONE:
                if result.name not in allowed:
                    partitions = term.context.partitions_of(str(result.name))
                    allowed[result.name] = self._may_mutate(len(partitions))
                if not allowed[result.name]:
                    result.error_code = ErrorCode.THROTTLING_QUOTA_EXCEEDED


def _resolved(term: Term, topic: DeleteTopicState) -> DeletableTopicResult:
    """By its name, or refused."""
    result = DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)
    try:
        result.name = _resolve(term, topic)
    except TopicRefused as refused:
        result.error_code = refused.code
        result.error_message = refused.message
    return result


def _resolve(term: Term, topic: DeleteTopicState) -> str:
    if not term.settings.delete_topic_enable:
        raise TopicRefused(ErrorCode.TOPIC_DELETION_DISABLED)
    by_id = topic.topic_id != ZERO_UUID
    if by_id and topic.name is not None:
        raise TopicRefused(
            ErrorCode.INVALID_REQUEST, "Topic name and topic ID can not both be specified."
        )
    name = term.context.topic_name(topic.topic_id) if by_id else topic.name
    if by_id and name is None:
        raise TopicRefused(ErrorCode.UNKNOWN_TOPIC_ID)
    if name is None or not term.context.has_topic(name):
        raise TopicRefused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return name


async def _is_going(topic: str) -> bool:
    marked = await perform(Exists(delete_topic_path(topic)))
    return marked is not None or await perform(Exists(TopicAssignment.path(topic))) is None


async def _mark(term: Term, topics: Iterable[str]) -> None:
    outcomes = await term.zk.write_each([Create(delete_topic_path(topic)) for topic in topics])
    for outcome in outcomes:
        if isinstance(outcome, Failed) and outcome.error is not ZkError.NODE_EXISTS:
            raise ZkFailure(outcome)
