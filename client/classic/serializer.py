"""Encoders and decoders: between a program's objects and bytes (kafka.serializer)."""

from __future__ import annotations

from typing import Protocol, TypeVar

T_contra = TypeVar("T_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)


class Encoder(Protocol[T_contra]):
    def to_bytes(self, value: T_contra, /) -> bytes | None:
        """``toBytes`` in Kafka."""


class Decoder(Protocol[T_co]):
    def from_bytes(self, data: bytes, /) -> T_co:
        """``fromBytes`` in Kafka."""


class DefaultEncoder:
    """Accepts bytes, unchanged."""

    def to_bytes(self, value: bytes) -> bytes:
        if not isinstance(value, bytes | bytearray | memoryview):
            raise TypeError(f"bytes are needed, or a serializer.class: {value!r}")
        return bytes(value)


class StringEncoder:
    """``serializer.encoding`` in Kafka."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def to_bytes(self, value: str) -> bytes:
        return value.encode(self._encoding)


class DefaultDecoder:
    def from_bytes(self, data: bytes) -> bytes:
        return data


class StringDecoder:
    def __init__(self, encoding: str = "utf-8") -> None:
        self._encoding = encoding

    def from_bytes(self, data: bytes) -> str:
        return data.decode(self._encoding)
