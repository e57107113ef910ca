"""From a frame to a decoded request, for the APIs and versions that the broker serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.node.requests.api_versions import unsupported_version
from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ProtocolError
from logquake.wire.header import RequestHeader, UnsupportedVersion, decode_request_header
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.wire.schema import Message, decode


@dataclass(slots=True)
class ParsedRequest:
    """A request that the broker serves."""

    header: RequestHeader
    body: Message


@dataclass(slots=True)
class VersionFallback:
    """The answer, in version 0, to an ApiVersions request in a version that is not served."""

    header: RequestHeader
    answer: ApiVersionsResponse


class RequestParser:
    """Parses what ``served`` names: versions by API key."""

    def __init__(self, served: Mapping[int, range]) -> None:
        self._versions = {int(key): versions for key, versions in served.items()}
        self._types = {key: _request_type(key) for key in self._versions}

    def parse(self, frame: memoryview) -> ParsedRequest | VersionFallback:
        """Raises ProtocolError for what Kafka closes the connection on."""
        try:
            header, start = decode_request_header(frame)
        except UnsupportedVersion as unsupported:
            return self._fall_back(unsupported.header)
        key, version = header.api_key, header.api_version
        if version not in self._versions.get(key, ()):
            return self._fall_back(header)
        return ParsedRequest(header, decode(self._types[key], version, frame, start))

    def _fall_back(self, header: RequestHeader) -> VersionFallback:
        """KIP-511: only ApiVersions has an answer that a client of any version can read."""
        key = header.api_key
        if key != ApiKey.API_VERSIONS or key not in self._versions:
            raise ProtocolError(f"API key {key} version {header.api_version} is not served")
        answer = unsupported_version(self._versions)
        return VersionFallback(RequestHeader(key, 0, header.correlation_id, None), answer)


def _request_type(key: int) -> type[Message]:
    found = request_type(key)
    if found is None:
        raise ValueError(f"no API has key {key}")
    return found
