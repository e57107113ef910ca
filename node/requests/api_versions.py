"""ApiVersions (18), versions 0-4: what this broker serves.

KIP-35; KIP-511 (v3) has clients name their software, which must match a pattern.
A version that the broker does not know is answered by the connection, in version 0
with UNSUPPORTED_VERSION, before any handler sees it.
Absent: finalized features, of which a cluster in ZooKeeper mode has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from logquake.node.requests.api_table import ApiTable, advertised
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

# ApiVersionsRequest.isValid in Kafka: what may reach logs and metric names.
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")

# /feature exists and is empty in ZooKeeper mode; its version, 0, is what Kafka 3.9 answers.
_FINALIZED_FEATURES_EPOCH = 0


class ApiVersions(Handler[ApiVersionsRequest]):
    key = ApiKey.API_VERSIONS
    versions = range(5)

    def __init__(self, table: ApiTable) -> None:
        self._table = table

    def handle(self, request: Request, body: ApiVersionsRequest) -> None:
        request.reply(answer_versions(self._table.advertised, request.header.api_version, body))


def answer_versions(
    served: list[ApiVersion], version: int, body: ApiVersionsRequest
) -> ApiVersionsResponse:
    """Also to a client that has yet to say who it is."""
    if version >= 3 and not _is_valid(body):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    return ApiVersionsResponse(api_keys=served, finalized_features_epoch=_FINALIZED_FEATURES_EPOCH)


def unsupported_version(served: Mapping[int, range]) -> ApiVersionsResponse:
    """KIP-511: what a client of any version can read, where its own is not served."""
    versions = served[ApiKey.API_VERSIONS]
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=advertised({ApiKey.API_VERSIONS: versions}),
    )


def _is_valid(body: ApiVersionsRequest) -> bool:
    return all(
        _SOFTWARE.fullmatch(text)
        for text in (body.client_software_name, body.client_software_version)
    )
