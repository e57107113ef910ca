"""The versions that older releases use: the CurrentVersion of each of kafka.api's requests.

Their clients do not ask brokers for their versions, which came later (KIP-35). Offset requests have
two: with version 0 the broker keeps offsets in ZooKeeper, with 1 in the offsets topic.
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
    """A release number. From 0.10 on messages have timestamps (magic 1, KIP-32), and a fetch
    returns its first message whatever its size (KIP-74).
    """

    V0_8_2 = "0.8.2"
    V0_10 = "0.10"

    @property
    def magic(self) -> int:
        """The magic of produced messages."""
        return 0 if self is Release.V0_8_2 else 1

    @property
    def speaks(self) -> Mapping[int, tuple[int, int]]:
        if self is Release.V0_8_2:
            return SPOKEN
        return {**SPOKEN, ApiKey.PRODUCE: (2, 2), ApiKey.FETCH: (3, 3)}
