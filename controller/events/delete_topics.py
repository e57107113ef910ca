"""DeleteTopics (20): topics are marked in /admin/delete_topics; the watch does the rest.

By name, or since version 6 by id (KIP-516). The answer does not wait until they are gone: the
broker that asks does. A topic that is marked already is no failure (ZkAdminManager.deleteTopics).
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.term import Term
from logquake.controller.topic_rules import TopicRefused
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


class DeletionRequest:
    """One request, each topic by itself."""

    def __init__(
        self, request: DeleteTopicsRequest, reply: Callable[[DeleteTopicsResponse], None]
    ) -> None:
        by_name = [DeleteTopicState(name=name) for name in request.topic_names]
        self._wanted = [*by_name, *request.topics]
        self._reply = reply
        self._results: list[DeletableTopicResult] = []
        self._in_doubt: DeletableTopicResult | None = None

    @property
    def is_in_doubt(self) -> bool:
        """A mark was written and ZooKeeper's answer did not come: it may be there."""
        return self._in_doubt is not None

    async def carry_out(self, term: Term) -> None:
        """Raises ControllerMoved, ZkFailure; refuse_rest() must follow then."""
        for topic in self._wanted:
            self._results.append(await self._ask_for(term, topic))
            self._in_doubt = None
        self._reply(DeleteTopicsResponse(responses=self._results))

    async def settle(self) -> None:
        """See whether the mark in doubt is there, or has done its work. Raises ZkFailure."""
        result = self._in_doubt
        if result is not None and await _is_going(str(result.name)):
            self._results.append(result)
        self._in_doubt = None

    def refuse_rest(self, code: ErrorCode) -> None:
        """Answer, with this code for all that was not come to."""
        rest = self._wanted[len(self._results) :]
        refused = [
            DeletableTopicResult(name=each.name, topic_id=each.topic_id, error_code=code)
            for each in rest
        ]
        self._reply(DeleteTopicsResponse(responses=[*self._results, *refused]))

    async def _ask_for(self, term: Term, topic: DeleteTopicState) -> DeletableTopicResult:
        result = DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)
        try:
            result.name = _resolve(term, topic)
            self._in_doubt = result
            await _mark(term, result.name)
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


async def _mark(term: Term, topic: str) -> None:
    (outcome,) = await term.zk.write_each([Create(delete_topic_path(topic))])
    if isinstance(outcome, Failed) and outcome.error is not ZkError.NODE_EXISTS:
        raise ZkFailure(outcome)
