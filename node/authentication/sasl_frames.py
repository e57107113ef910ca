"""Requests and answers of an exchange, and refusals that carry one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import RequestHeader, encode_response
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.messages.sasl import SaslAuthenticateResponse
from logquake.wire.refusals import refused
from logquake.wire.schema import Message, decode

M = TypeVar("M", bound=Message)


class Refused(Exception):  # noqa: N818 - the client is at fault, not the program
    def __init__(self, why: str, frame: bytes = b"") -> None:
        super().__init__(why)
        self.frame = frame


@dataclass(frozen=True, slots=True)
class VersionsAnswers:
    """What a broker answers to ApiVersions: of a version that is served, and of another one."""

    answer: Callable[[int, ApiVersionsRequest], ApiVersionsResponse]
    unsupported: Callable[[], ApiVersionsResponse]


def failed(header: RequestHeader, why: str) -> Refused:
    answer = SaslAuthenticateResponse(
        error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=why
    )
    return Refused(why, framed(header, answer))


def illegal_state(header: RequestHeader, body: Message, why: str) -> Refused:
    """In the answer that the request would have had. Raises ProtocolError where it has none."""
    key, version = header.api_key, header.api_version
    answer = refused(key, version, body, ErrorCode.ILLEGAL_SASL_STATE, why)
    if answer is None:
        raise ProtocolError(why)
    return Refused(why, framed(header, answer))


def body_of(request: type[M], header: RequestHeader, frame: bytes, start: int) -> M:
    if header.api_version not in request.__schema__.versions:
        raise ProtocolError(f"{name_of(header.api_key)} of version {header.api_version}")
    return decode(request, header.api_version, frame, start)


def framed(header: RequestHeader, answer: Message, version: int | None = None) -> bytes:
    """With its length in front. Raises ProtocolError: a text of the client's may be too long."""
    try:
        parts = encode_response(
            header.correlation_id, answer, header.api_version if version is None else version
        )
    except ValueError as error:
        raise ProtocolError("an answer that cannot be written") from error
    return b"".join(bytes(part) for part in parts if isinstance(part, (bytes, memoryview)))


def name_of(key: int) -> str:
    return ApiKey(key).name
