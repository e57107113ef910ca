"""From a frame to a decoded request, for the APIs and versions that the broker serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import RequestHeader, UnsupportedVersion, decode_request_header
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.schema import Message, decode


@dataclass(frozen=True, slots=True)
class VersionFallback:
    """The answer, in version 0, to an ApiVersions request in a version that is not served."""

    header: RequestHeader
    answer: ApiVersionsResponse


class RequestParser:
    """Parses what ``served`` names: versions by API key."""

    def __init__(self, served: Mapping[int, range]) -> None:
        self._served = dict(served)

    def parse(self, frame: memoryview) -> tuple[RequestHeader, Message] | VersionFallback:
        """Raises ProtocolError for what Kafka closes the connection on."""
        try:
            header, start = decode_request_header(frame)
        except UnsupportedVersion as unsupported:
            return self._fall_back(unsupported.header)
        if header.api_version not in self._served.get(header.api_key, ()):
            return self._fall_back(header)
        body = decode(request_type(header.api_key), header.api_version, frame, start)
        return header, body

    def _fall_back(self, header: RequestHeader) -> VersionFallback:
        """KIP-511: only ApiVersions has an answer that a client of any version can read."""
        key = header.api_key
        if key != ApiKey.API_VERSIONS:
            raise ProtocolError(f"API key {key} version {header.api_version} is not served")
        served = self._served[key]
        answer = ApiVersionsResponse(
            error_code=ErrorCode.UNSUPPORTED_VERSION,
            api_keys=[ApiVersion(api_key=key, min_version=served[0], max_version=served[-1])],
        )
        return VersionFallback(RequestHeader(key, 0, header.correlation_id, None), answer)
