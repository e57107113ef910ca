"""Turns keys and values into bytes (org.apache.kafka.common.serialization.Serializer)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from logquake.client.errors import SerializationError
from logquake.client.producer.record import Headers


class Serializer(Protocol):
    """The program's key.serializer or value.serializer; may also be a function of the value."""

    def serialize(self, topic: str, headers: Headers, data: Any, /) -> bytes | None: ...


Serialize: TypeAlias = Callable[[str, Headers, Any], bytes | None]


def serialize_by(given: Any, what: str) -> Serialize:
    """``given`` is a `Serializer`, a function, or None, which accepts only bytes.

    ``what`` names its purpose in errors: the result raises SerializationError, whatever the
    program's own serializer raises.
    """
    if given is None:
        return _as_they_are(what)
    own = given.serialize if hasattr(given, "serialize") else _by_value_alone(given)

    def serialize(topic: str, headers: Headers, data: Any) -> bytes | None:
        try:
            return _checked(own(topic, headers, data))
        except Exception as error:
            raise SerializationError(
                f"no bytes out of the {what} {data!r:.100}: {error}"
            ) from error

    return serialize


def _by_value_alone(function: Callable[[Any], bytes | None]) -> Serialize:
    def serialize(_topic: str, _headers: Headers, data: Any) -> bytes | None:
        return None if data is None else function(data)

    return serialize


def _as_they_are(what: str) -> Serialize:
    def serialize(_topic: str, _headers: Headers, data: Any) -> bytes | None:
        if data is None or type(data) is bytes:
            return data  # as most are
        try:
            return _checked(data)
        except TypeError as error:
            raise SerializationError(f"{what}: {error}; a {what}_serializer makes them") from error

    return serialize


def _checked(data: Any) -> bytes | None:
    if data is None or type(data) is bytes:
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise TypeError(f"bytes are wanted, not {type(data).__name__}")
