"""What 0.8.2 speaks: the CurrentVersion of each of kafka.api's requests.

Its clients do not ask brokers for their versions, which came later (KIP-35). Offsets have two:
version 0 is kept in ZooKeeper, by the broker, and 1 in the topic of offsets.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.wire.api import ApiKey

MAGIC = 0
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
