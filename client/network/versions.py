"""The versions that a broker supports: ApiVersions begins every connection (KIP-35, KIP-511)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from logquake.client.errors import check
from logquake.client.network.link import AskingVersions
from logquake.client.network.throttling import throttle_ms
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import decode_response
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

NEWEST = 3  # the first that names the client's software; version 4 adds nothing that we use
_OLDEST = 0
_SOFTWARE_VERSION = "0.1.0"
_CORRELATION_BYTES = 4
_CORRELATION_AND_ERROR_BYTES = 6


def question() -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name="logquake", client_software_version=_SOFTWARE_VERSION
    )


class Spoken(NamedTuple):
    """A broker's version ranges by API key, and how long it throttles us."""

    ranges: Mapping[int, tuple[int, int]]
    throttle_ms: int


def answer(asked: AskingVersions, frame: memoryview, broker: str) -> Spoken | int:
    """What the broker supports; or a lower version in which to ask again.

    Raises BrokerError, and ProtocolError for an invalid response.
    """
    correlation_id = int.from_bytes(frame[:_CORRELATION_BYTES], signed=True)
    if correlation_id != asked.correlation_id:
        raise ProtocolError(f"response to request {correlation_id}, not {asked.correlation_id}")
    if asked.version > _OLDEST and _is_refused(frame):
        return max(_OLDEST, min(_highest_told(frame), asked.version - 1))
    _, told = decode_response(ApiVersionsResponse, asked.version, frame)
    check(told.error_code, f"{ApiKey.API_VERSIONS.name} of {broker}")
    return Spoken(_ranges(told), throttle_ms(told, asked.version))


def _highest_told(frame: memoryview) -> int:
    """The broker's highest version of ApiVersions: a broker answers an unknown version in version
    0. librdkafka's mock cluster answers in none at all, but every broker knows the oldest.
    """
    try:
        _, told = decode_response(ApiVersionsResponse, _OLDEST, frame)
    except ProtocolError:
        return _OLDEST
    _, highest = _ranges(told).get(ApiKey.API_VERSIONS, (_OLDEST, _OLDEST))
    return highest


def _ranges(told: ApiVersionsResponse) -> dict[int, tuple[int, int]]:
    return {api.api_key: (api.min_version, api.max_version) for api in told.api_keys}


def _is_refused(frame: memoryview) -> bool:
    code = int.from_bytes(frame[_CORRELATION_BYTES:_CORRELATION_AND_ERROR_BYTES], signed=True)
    return len(frame) >= _CORRELATION_AND_ERROR_BYTES and code == ErrorCode.UNSUPPORTED_VERSION
