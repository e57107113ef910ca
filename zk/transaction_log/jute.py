"""Fields as ZooKeeper's serialization (jute, org.apache.jute.BinaryInputArchive) lays them out."""

from __future__ import annotations

import struct

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")


class MalformedEntry(ValueError):  # noqa: N818 - the bytes are at fault, not the program
    """Bytes that are no transaction of ZooKeeper's."""


class JuteReader:
    """Reads one field after the other. All raise MalformedEntry past the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int32(self) -> int:
        return int(self._number(_INT))

    def int64(self) -> int:
        return int(self._number(_LONG))

    def flag(self) -> bool:
        return self._take(1) != b"\0"

    def buffer(self) -> bytes | None:
        """None is written as the length -1."""
        size = self.int32()
        return None if size == -1 else self._take(size)

    def text(self) -> str:
        try:
            return (self.buffer() or b"").decode()
        except UnicodeDecodeError as error:
            raise MalformedEntry(f"a path that is not UTF-8: {error.reason}") from error

    def count(self) -> int:
        """Of a vector; each element has a byte at least."""
        count = max(0, self.int32())  # -1 is a vector that is null
        if count > self.left:
            raise MalformedEntry(f"a vector of {count} in {self.left} bytes")
        return count

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def _number(self, layout: struct.Struct) -> int:
        value: int = layout.unpack(self._take(layout.size))[0]
        return value

    def _take(self, size: int) -> bytes:
        if not 0 <= size <= self.left:
            raise MalformedEntry(f"{size} bytes wanted, {self.left} are left")
        self._at += size
        return self._data[self._at - size : self._at]
