"""Addresses as bootstrap.servers has them."""

from __future__ import annotations

from typing import NamedTuple

_PORT_MAX = 65_535


class Address(NamedTuple):
    host: str
    port: int


def addresses(text: str) -> list[Address]:
    """Raises ValueError where it is not host:port[,host:port...]."""
    servers = [server.strip() for server in text.split(",")]
    return [_address(server) for server in servers if server]


def _address(server: str) -> Address:
    host, separator, port = server.rpartition(":")
    if not (separator and host and port.isdecimal() and int(port) <= _PORT_MAX):
        raise ValueError(f"not host:port: {server!r}")
    return Address(host.strip("[]"), int(port))
