"""Key -> offset of its latest record, in a bound of memory (Kafka's SkimpyOffsetMap).

Keys are kept as their MD5, as in Kafka: 16 bytes, and 8 for the offset, in an open-addressed table
in one bytearray. A dict of the same entries takes seven times the memory, and no bound holds for
it: log.cleaner.dedupe.buffer.size would be a wish.

Caveat: two keys with one MD5 count as one key. Who can make such keys can remove each other's
records from a topic that both may write to.
"""

from __future__ import annotations

import struct
from hashlib import md5

from logquake.wire.sentinels import UNKNOWN_OFFSET

DIGEST_BYTES = 16
ENTRY_BYTES = DIGEST_BYTES + 8
_OFFSET = struct.Struct(">q")
_FREE = bytes(8)


class OffsetMap:
    """``latest_offset``: the map knows every record up to it; UNKNOWN_OFFSET at first."""

    def __init__(self, memory_bytes: int, load_factor: float = 1.0, *, offsets: int) -> None:
        """At most memory_bytes, of which load_factor is filled before the map counts as full.

        No more memory is taken than so many offsets can need: they have no more keys than that.
        Raises ValueError where not even one key fits.
        """
        slots = memory_bytes // ENTRY_BYTES
        # One slot stays free: a search ends there.
        self._capacity = min(int(slots * load_factor), slots - 1)
        if self._capacity < 1:
            raise ValueError(f"{memory_bytes} bytes are too few for one key")
        self._slots = min(slots, int(offsets / load_factor) + 2)
        self._table = bytearray(self._slots * ENTRY_BYTES)
        self._size = 0
        self.latest_offset = UNKNOWN_OFFSET

    def __len__(self) -> int:
        return self._size

    @property
    def is_full(self) -> bool:
        return self._size >= self._capacity

    @property
    def memory_bytes(self) -> int:
        return len(self._table)

    def put(self, key: bytes, offset: int) -> None:
        """Remember the key's latest offset. Raises RuntimeError when every slot is taken."""
        digest = _digest(key)
        position = self._find(digest)
        if self._is_free(position):
            if self._size >= self._slots - 1:
                raise RuntimeError(f"{self._size} keys fill the offset map")
            self._table[position : position + DIGEST_BYTES] = digest
            self._size += 1
        # One more than the offset: an entry in use is never all zeros.
        _OFFSET.pack_into(self._table, position + DIGEST_BYTES, offset + 1)
        self.latest_offset = offset

    def get(self, key: bytes) -> int:
        """The key's latest offset; UNKNOWN_OFFSET for a key that is not here."""
        stored: int = _OFFSET.unpack_from(self._table, self._find(_digest(key)) + DIGEST_BYTES)[0]
        return stored - 1

    def _find(self, digest: bytes) -> int:
        """Where the digest's entry is, or the free one where it belongs; one is always free."""
        table, end = self._table, len(self._table)
        position = int.from_bytes(digest[:8], "big") % self._slots * ENTRY_BYTES
        while table[position : position + DIGEST_BYTES] != digest and not self._is_free(position):
            position += ENTRY_BYTES
            if position == end:
                position = 0
        return position

    def _is_free(self, position: int) -> bool:
        return self._table[position + DIGEST_BYTES : position + ENTRY_BYTES] == _FREE


def _digest(key: bytes) -> bytes:
    return md5(key, usedforsecurity=False).digest()
