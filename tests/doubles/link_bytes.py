"""Bytes that a client's links receive, in the place of a driver's sockets."""

from __future__ import annotations

from logquake.client.network.effects import Write
from logquake.client.network.links import Links
from logquake.wire.api import request_type
from logquake.wire.header import RequestHeader, decode_request_header, encode_response
from logquake.wire.schema import Message, decode
from tests.parts import joined


def asked(write: Write) -> tuple[RequestHeader, Message]:
    """The request that a link writes."""
    frame = memoryview(joined(write.parts))[4:]
    header, start = decode_request_header(frame)
    kind = request_type(header.api_key)
    assert kind is not None
    return header, decode(kind, header.api_version, frame, start)


def tell(links: Links, link: int, asked: RequestHeader, said: Message, now_ms: int) -> None:
    """What a broker says to a request."""
    _receive(
        links, link, joined(encode_response(asked.correlation_id, said, asked.api_version)), now_ms
    )


def _receive(links: Links, link: int, content: bytes, now_ms: int) -> None:
    """As far as the link wants them."""
    while content and (room := links.room(link)):
        piece = content[: len(room)]
        room[: len(piece)] = piece
        links.received(link, len(piece), now_ms)
        content = content[len(piece) :]
