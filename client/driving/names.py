"""Looks up the addresses of a host, which may take as long as it likes."""

from __future__ import annotations

import socket
from typing import Any

_SCOPE = 3  # its place in an IPv6 socket's address


def addresses_of(host: str) -> list[str]:
    """One that holds on one of our links alone names it: fe80::1%2.

    Raises OSError, and ValueError for what is no name.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # IPv4 first, as Java has it by default: "localhost" is often both, and served by one.
    in_order = sorted(found, key=lambda each: each[0] is not socket.AF_INET)
    return list(dict.fromkeys(_with_scope(address) for *_, address in in_order))


def is_address(host: str) -> bool:
    """There is nothing to look up."""
    bare = host.partition("%")[0]
    return any(_is_of(family, bare) for family in (socket.AF_INET, socket.AF_INET6))


def _is_of(family: socket.AddressFamily, address: str) -> bool:
    try:
        socket.inet_pton(family, address)
    except (OSError, ValueError):
        return False
    return True


def place_of(address: str, port: int) -> tuple[str, int] | tuple[str, int, int, int]:
    """What a socket connects to, of one of those addresses."""
    bare, _, scope = address.partition("%")
    return (bare, port, 0, int(scope)) if scope else (bare, port)


def _with_scope(address: tuple[Any, ...]) -> str:
    scope = address[_SCOPE] if len(address) > _SCOPE else 0
    return f"{address[0]}%{scope}" if scope else str(address[0])
