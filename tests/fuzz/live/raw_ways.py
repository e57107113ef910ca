"""Sockets for whoever says what no client would: connected, and logged in where that is wanted."""

from __future__ import annotations

import secrets
import socket
import ssl
from collections.abc import Callable
from typing import Protocol

from logquake.client.settings import Address
from logquake.cluster.security.cluster_security import MECHANISM, ClusterSecurity
from logquake.wire.header import LENGTH_BYTES
from logquake.wire.sasl.authenticator import LoggedIn, SaslClientAuthenticator
from logquake.wire.sasl.scram_client import ScramClient, ScramLogin

_CLIENT_ID = "logquake"
_NONCE_BYTES = 17


class Socket(Protocol):
    """What is asked of a socket; socket.socket is one."""

    def settimeout(self, timeout: float | None, /) -> None: ...
    def sendall(self, data: bytes, /) -> None: ...
    def recv_into(self, buffer: memoryview, /) -> int: ...
    def close(self) -> None: ...


Connect = Callable[[Address, float], Socket]


def tcp(address: Address, timeout_s: float) -> socket.socket:
    connected = socket.create_connection(address, timeout_s)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


def tls(security: ClusterSecurity, address: Address, timeout_s: float) -> socket.socket:
    context = ssl.create_default_context(cafile=str(security.authority))
    plain = tcp(address, timeout_s)
    try:
        return context.wrap_socket(plain, server_hostname=address.host)
    except BaseException:
        plain.close()
        raise


def logged_in(security: ClusterSecurity, address: Address, timeout_s: float) -> socket.socket:
    """As the user that ``security`` names."""
    secured = tls(security, address, timeout_s)
    login = ScramLogin(MECHANISM, security.user.name, security.user.password)
    try:
        _log_in(secured, login)
    except BaseException:
        secured.close()
        raise
    return secured


def _log_in(connected: socket.socket, login: ScramLogin) -> None:
    mechanism = ScramClient(login, lambda: secrets.token_hex(_NONCE_BYTES))
    exchange = SaslClientAuthenticator(mechanism, _CLIENT_ID)
    step: bytes | LoggedIn = exchange.start()
    with connected.makefile("rb") as answers:
        while isinstance(step, bytes):
            connected.sendall(step)
            size = int.from_bytes(answers.read(LENGTH_BYTES))
            if not size:
                raise ConnectionError("the broker closed the connection amid authentication")
            step = exchange.receive(answers.read(size))
