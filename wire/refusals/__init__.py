"""The answer to a request that is refused as a whole: getErrorResponse of Kafka's request classes.

Most say it in one error code. Those of the modules here, by whom or what they ask for, say it of
everything that was asked for.
"""

from __future__ import annotations

from typing import Any, cast

from logquake.wire.api import ApiKey, response_type
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from logquake.wire.refusals import (
    configs,
    control,
    groups,
    partitions,
    security,
    topics,
    transactions,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable
from logquake.wire.schema import Message


def refused(
    key: int, version: int, body: Message, error: ErrorCode, message: str | None = None
) -> Message | None:
    """None for a request that is never answered: a Produce that wants no acks.

    ``message`` is told where the answer has room for one; some of Kafka's classes put the error's
    own text there instead.
    """
    why = Refusal(error, message)
    special = _SPECIAL.get(type(body))
    return special(body, version, why) if special is not None else _in_one_code(key, why)


def _in_one_code(key: int, why: Refusal) -> Message:
    answer_type: Any = response_type(key)
    answer = answer_type(error_code=why.error)
    if "error_message" in answer.__schema__.fields:
        answer.error_message = why.message
    return cast(Message, answer)


def _api_versions(_body: ApiVersionsRequest, _version: int, why: Refusal) -> ApiVersionsResponse:
    """Who asked in a version that is not served is told those that are (KIP-511)."""
    answer = ApiVersionsResponse(error_code=why.error)
    if why.error is ErrorCode.UNSUPPORTED_VERSION:
        served = ApiVersionsRequest.__schema__.versions
        answer.api_keys = [
            ApiVersion(
                api_key=ApiKey.API_VERSIONS, min_version=served.first, max_version=served.last
            )
        ]
    return answer


_SPECIAL: RefusalTable = {
    **partitions.REFUSALS,
    **groups.REFUSALS,
    **transactions.REFUSALS,
    **topics.REFUSALS,
    **configs.REFUSALS,
    **security.REFUSALS,
    **control.REFUSALS,
    ApiVersionsRequest: _api_versions,
}
