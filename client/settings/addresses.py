"""Addresses as bootstrap.servers has them."""

from __future__ import annotations

import re
from typing import NamedTuple

# As Kafka's Utils.getHost: what stands before "://" is passed over, a listener's name say.
_SERVER = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]+)\]?:([0-9]+)")
_PORT_MAX = 65_535


class Address(NamedTuple):
    host: str
    port: int


def addresses(text: str) -> list[Address]:
    """Raises ValueError where it is not [protocol://]host:port[,...]."""
    servers = [server.strip() for server in text.split(",")]
    return [_address(server) for server in servers if server]


def _address(server: str) -> Address:
    found = _SERVER.fullmatch(server)
    if found is None or not 0 < int(found[2]) <= _PORT_MAX:
        raise ValueError(f"not host:port: {server!r}")
    return Address(found[1], int(found[2]))
