"""What older releases speak: the CurrentVersion of each of kafka.api's requests.

Their clients do not ask brokers for their versions, which came later (KIP-35). Offsets have two:
version 0 is kept in ZooKeeper, by the broker, and 1 in the topic of offsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from logquake.wire.api import ApiKey

_CURRENT = (0, 0)

SPOKEN: Mapping[int, tuple[int, int]] = {
    ApiKey.PRODUCE: _CURRENT,
    ApiKey.FETCH: _CURRENT,
    ApiKey.LIST_OFFSETS: _CURRENT,
    ApiKey.METADATA: _CURRENT,
    ApiKey.FIND_COORDINATOR: _CURRENT,
    ApiKey.OFFSET_COMMIT: (0, 1),
    ApiKey.OFFSET_FETCH: (0, 1),
}


class Release(Enum):
    """By its number. From 0.10 on messages have times (magic 1, KIP-32), and a fetch brings its
    first message however large it is (KIP-74).
    """

    V0_8_2 = "0.8.2"
    V0_10 = "0.10"

    @property
    def magic(self) -> int:
        """Of what is produced."""
        return 0 if self is Release.V0_8_2 else 1

    @property
    def speaks(self) -> Mapping[int, tuple[int, int]]:
        if self is Release.V0_8_2:
            return SPOKEN
        return {**SPOKEN, ApiKey.PRODUCE: (2, 2), ApiKey.FETCH: (3, 3)}
