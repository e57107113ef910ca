"""Bytes that a client's links receive, in the place of a driver's sockets."""

from __future__ import annotations

from logquake.client.network.links import Links
from logquake.wire.header import RequestHeader, encode_response
from logquake.wire.schema import Message
from tests.parts import joined


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
