"""A request's frame read as far as rules need it, and the frame of an answer that refuses it."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import (
    LENGTH_BYTES,
    RequestHeader,
    UnsupportedVersion,
    decode_request_header,
    encode_response,
)
from logquake.wire.messages.produce import ProduceRequest
from logquake.wire.refusals import refused
from logquake.wire.schema import Message, decode

_NO_ACKS = 0
_MESSAGE = "made by logquake inject"


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """``body_at`` is where its body begins in ``frame``; None where its version is unknown."""

    frame: bytes
    header: RequestHeader
    body_at: int | None

    @property
    def wants_answer(self) -> bool:
        """A Produce may want none."""
        if self.header.api_key != ApiKey.PRODUCE:
            return True
        body = self.body()
        return not (isinstance(body, ProduceRequest) and body.acks == _NO_ACKS)

    def body(self) -> Message | None:
        """None for one that a broker could not read either."""
        kind = request_type(self.header.api_key)
        if kind is None or self.body_at is None:
            return None
        try:
            return decode(kind, self.header.api_version, memoryview(self.frame), self.body_at)
        except ProtocolError:
            return None


def read_request(frame: bytes) -> ReadRequest:
    """A frame with its length. ProtocolError if it does not begin as requests do.

    So is a SaslHandshake 0: what follows it are no requests, but a mechanism's tokens (before
    KIP-152).
    """
    try:
        header, body_at = decode_request_header(frame, LENGTH_BYTES)
    except UnsupportedVersion as error:
        return ReadRequest(frame, error.header, None)
    if header.api_key == ApiKey.SASL_HANDSHAKE and header.api_version == 0:
        raise ProtocolError("tokens follow a SaslHandshake 0")
    return ReadRequest(frame, header, body_at)


def refusal_of(header: RequestHeader, body: Message, error: ErrorCode) -> bytes | None:
    """The frame of the answer; None where there is none: a broker ends the connection then."""
    told = None if error is ErrorCode.UNKNOWN_SERVER_ERROR else _MESSAGE
    answer = refused(header.api_key, header.api_version, body, error, told)
    if answer is None:
        return None
    parts = encode_response(header.correlation_id, answer, header.api_version)
    return b"".join(bytes(part) for part in parts)  # type: ignore[arg-type]  # all in memory
