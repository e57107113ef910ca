"""Answers that say only that the controller did not do what was asked: one error for all of it."""

from __future__ import annotations

from collections.abc import Callable

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)


def creation_refused(
    request: CreateTopicsRequest,
) -> Callable[[ErrorCode], CreateTopicsResponse]:
    return lambda code: CreateTopicsResponse(
        topics=[CreatableTopicResult(name=each.name, error_code=code) for each in request.topics]
    )


def deletion_refused(
    request: DeleteTopicsRequest,
) -> Callable[[ErrorCode], DeleteTopicsResponse]:
    return lambda code: DeleteTopicsResponse(
        responses=[
            *(DeletableTopicResult(name=name, error_code=code) for name in request.topic_names),
            *(
                DeletableTopicResult(name=each.name, topic_id=each.topic_id, error_code=code)
                for each in request.topics
            ),
        ]
    )
