"""Types of values that only the older APIs' keys have."""

from __future__ import annotations

import re
from dataclasses import dataclass

from logquake.client.settings.addresses import Address
from logquake.client.settings.keys import Absent
from logquake.client.settings.kinds import Servers, Text
from logquake.wire.compression import Codec

SIZED_BY_THE_SYSTEM = Absent("the system sizes the buffers of sockets itself")
LEGAL_NAME = Text("letters, digits, '.', '_' and '-'", r"[a-zA-Z0-9._-]*")  # kafka.common.Config
_BROKER_ID = re.compile(r"\s*\d+:(?=[^:]+:\d+\s*$)")
_NO_ZSTD = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)

CODECS = {
    **{codec.name.lower(): codec for codec in _NO_ZSTD},
    **{str(int(codec)): codec for codec in _NO_ZSTD},
}
"""CompressionCodec.getCompressionCodec: by name or number; zstd is newer."""


@dataclass(frozen=True, slots=True)
class BrokerList:
    """Also accepts 0.7's ``id:host:port``: the id is ignored, since metadata has it."""

    allowed: str = "host:port[,host:port...]"

    def read(self, value: object) -> tuple[Address, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise ValueError(value)
        return Servers().read([_BROKER_ID.sub("", str(part)) for part in parts])


@dataclass(frozen=True, slots=True)
class Names:
    """In a list, or separated by commas."""

    allowed: str = "names between commas"

    def read(self, value: object) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise ValueError(value)
        return tuple(name for part in parts if (name := str(part).strip()))
