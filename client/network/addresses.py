"""The addresses of one host, tried one after the other (KIP-302, KIP-601).

The host is looked up again after the last address, and when an established connection is lost: the
name may resolve to others by then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable


class Addresses:
    def __init__(self) -> None:
        self._untried: deque[str] = deque()
        self._last: str | None = None

    def next(self) -> str | None:
        """The next address to try; None when the host has to be looked up first."""
        if not self._untried:
            return None
        self._last = self._untried.popleft()
        return self._last

    def resolved(self, found: Iterable[str]) -> None:
        """Keep addresses of the first one's family, IPv4 or IPv6: often a host has addresses of
        both, but only one kind is reachable (ClientUtils.filterPreferredAddresses).
        """
        addresses = deque(found)
        if addresses:
            family = _is_ipv6(addresses[0])
            addresses = deque(one for one in addresses if _is_ipv6(one) == family)
        if len(addresses) > 1 and addresses[0] == self._last:
            addresses.popleft()  # it has just failed
        self._untried = addresses

    def forget(self) -> None:
        self._untried.clear()


def _is_ipv6(address: str) -> bool:
    return ":" in address
