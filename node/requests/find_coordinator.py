"""FindCoordinator (10), versions 0-6: who coordinates a group or a transactional id.

KIP-699 (v4) asks for several keys at once; KIP-932 (v6) adds share groups.
Absent: the coordinators themselves. Nobody coordinates yet, which Kafka's protocol can say:
COORDINATOR_NOT_AVAILABLE. Consumers with assigned partitions work all the same.
"""

from __future__ import annotations

from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_FIRST_VERSION_WITH_KEYS = 4
_FIRST_VERSION_WITH_SHARE = 6
_NOBODY = -1
_MESSAGES = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    ErrorCode.INVALID_REQUEST: "This most likely occurs because of a request being malformed by "
    "the client library or the message was sent to an incompatible broker. "
    "See the broker logs for more details.",
}


class FindCoordinator(Handler[FindCoordinatorRequest]):
    key = ApiKey.FIND_COORDINATOR
    versions = range(7)

    def handle(self, request: Request, body: FindCoordinatorRequest) -> None:
        version = request.header.api_version
        error = _error(version, body.key_type)
        if version >= _FIRST_VERSION_WITH_KEYS:
            request.reply(
                FindCoordinatorResponse(
                    coordinators=[_nobody(key, error) for key in body.coordinator_keys]
                )
            )
            return
        request.reply(
            FindCoordinatorResponse(
                error_code=error,
                error_message=_MESSAGES[error],
                node_id=_NOBODY,
                host="",
                port=_NOBODY,
            )
        )


def _error(version: int, key_type: int) -> ErrorCode:
    known = key_type in (_GROUP, _TRANSACTION) or (
        key_type == _SHARE and version >= _FIRST_VERSION_WITH_SHARE
    )
    return ErrorCode.COORDINATOR_NOT_AVAILABLE if known else ErrorCode.INVALID_REQUEST


def _nobody(key: str, error: ErrorCode) -> Coordinator:
    return Coordinator(
        key=key, node_id=_NOBODY, host="", port=_NOBODY, error_code=error, error_message=""
    )
