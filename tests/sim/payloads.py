"""What a message is at its receiver: as objects (cheap), or through the wire codec (exact).

Either way the receiver shares no bytes of records with the sender: a leader's log may be
truncated, a producer's buffer reused, while the message is on its way.
"""

from __future__ import annotations

from typing import Protocol

from logquake.wire.messages.fetch import FetchResponse
from logquake.wire.messages.produce import ProduceRequest
from logquake.wire.schema import Message, decode, encode_parts
from tests.parts import bytes_of


class Payloads(Protocol):
    def request(self, message: Message, version: int) -> Message: ...

    def response(self, message: Message, version: int) -> Message: ...


class AsObjects:
    """Hands over the sender's object, with its records copied."""

    def request(self, message: Message, version: int) -> Message:
        if not isinstance(message, ProduceRequest):
            return message
        return decode(ProduceRequest, version, memoryview(_encoded(message, version)))

    def response(self, message: Message, version: int) -> Message:  # noqa: ARG002
        if isinstance(message, FetchResponse):
            for topic in message.responses:
                for partition in topic.partitions:
                    partition.records = memoryview(bytes_of(partition.records or b""))
        return message


class ThroughTheCodec:
    def request(self, message: Message, version: int) -> Message:
        return decode(type(message), version, memoryview(_encoded(message, version)))

    def response(self, message: Message, version: int) -> Message:
        return decode(type(message), version, memoryview(_encoded(message, version)))


def _encoded(message: Message, version: int) -> bytearray:
    """A writable buffer, as a broker's receive buffer is."""
    return bytearray().join(map(bytes_of, encode_parts(message, version)))
