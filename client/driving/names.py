"""Looks up the addresses of a host, which may take long."""

from __future__ import annotations

import socket
from typing import Any

_SCOPE = 3  # its place in an IPv6 socket's address


def addresses_of(host: str) -> list[str]:
    """A link-local address includes its scope: fe80::1%2.

    Raises OSError, and ValueError for an invalid name.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # IPv4 first, like Java's default: "localhost" often resolves to both, but only one is served.
    in_order = sorted(found, key=lambda each: each[0] is not socket.AF_INET)
    return list(dict.fromkeys(_with_scope(address) for *_, address in in_order))


def is_address(host: str) -> bool:
    """Whether it is an address already, so that no lookup is needed."""
    bare = host.partition("%")[0]
    return any(_is_of(family, bare) for family in (socket.AF_INET, socket.AF_INET6))


def _is_of(family: socket.AddressFamily, address: str) -> bool:
    try:
        socket.inet_pton(family, address)
    except (OSError, ValueError):
        return False
    return True


def place_of(address: str, port: int) -> tuple[str, int] | tuple[str, int, int, int]:
    """The address in the form that socket.connect takes."""
    bare, _, scope = address.partition("%")
    return (bare, port, 0, int(scope)) if scope else (bare, port)


def _with_scope(address: tuple[Any, ...]) -> str:
    scope = address[_SCOPE] if len(address) > _SCOPE else 0
    return f"{address[0]}%{scope}" if scope else str(address[0])
