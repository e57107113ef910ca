"""The addresses of a host, as sockets take them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from logquake.client.driving.names import addresses_of, place_of

LOOPBACK = socket.if_nametoindex("lo")


def test_an_address_of_one_link_keeps_the_link() -> None:
    """As bootstrap.servers may have it: without it the system knows no way there."""
    (address,) = addresses_of("fe80::1%lo")
    assert place_of(address, 9092) == ("fe80::1", 9092, 0, LOOPBACK)


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_a_socket_takes_it() -> None:
    (address,) = addresses_of(f"::1%{LOOPBACK}")
    with (
        socket.create_server(("::1", 0), family=socket.AF_INET6) as listening,
        socket.socket(socket.AF_INET6) as ours,
    ):
        ours.connect(place_of(address, listening.getsockname()[1]))


def test_others_have_none() -> None:
    places = [place_of(each, 9092) for host in ("127.0.0.1", "::1") for each in addresses_of(host)]
    assert places == [("127.0.0.1", 9092), ("::1", 9092)]
