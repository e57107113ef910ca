"""CRC-32C, the checksum of record batches, of any buffer: as many GB a second as memory gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logquake.wire.alone import import_alone

if TYPE_CHECKING:
    from crc32c import crc32c
else:
    crc32c = import_alone("crc32c._crc32c").crc32c

__all__ = ["crc32c"]
