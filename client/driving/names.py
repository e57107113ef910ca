"""Looking up the addresses of a host, which may take as long as it likes."""

from __future__ import annotations

import socket


def addresses_of(host: str) -> list[str]:
    """Raises OSError, and ValueError for what is no name."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # IPv4 first, as Java has it by default: "localhost" is often both, and served by one.
    in_order = sorted(found, key=lambda each: each[0] is not socket.AF_INET)
    return list(dict.fromkeys(str(address[0]) for *_, address in in_order))
