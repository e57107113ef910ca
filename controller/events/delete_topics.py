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
from logquake.zk.operations import Create, Failed, ZkError
from logquake.zk.procedure import ZkFailure
from logquake.zk.znodes.admin import delete_topic_path


async def delete_topics(
    term: Term, request: DeleteTopicsRequest, reply: Callable[[DeleteTopicsResponse], None]
) -> None:
    """Raises ControllerMoved, ZkFailure."""
    wanted = [
        *(DeleteTopicState(name=name) for name in request.topic_names),
        *request.topics,
    ]
    results = []
    for topic in wanted:
        result = DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)
        try:
            result.name = _resolve(term, topic)
            await _mark(term, result.name)
        except TopicRefused as refused:
            result.error_code = refused.code
            result.error_message = refused.message
        results.append(result)
    reply(DeleteTopicsResponse(responses=results))


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


async def _mark(term: Term, topic: str) -> None:
    (outcome,) = await term.zk.write_each([Create(delete_topic_path(topic))])
    if isinstance(outcome, Failed) and outcome.error is not ZkError.NODE_EXISTS:
        raise ZkFailure(outcome)
