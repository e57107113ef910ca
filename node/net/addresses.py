"""Addresses of hosts, as the system finds them."""

from __future__ import annotations

import socket


def address_of(host: str) -> str | None:
    """The IPv4 address of a host by its name or address; None where there is none.

    A name server may be slow, or silent.
    """
    try:
        return socket.gethostbyname(host)
    except (OSError, UnicodeError):
        return None
