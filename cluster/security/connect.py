"""A client's way into a cluster that was launched secure."""

from __future__ import annotations

import secrets
import socket
import ssl

from logquake.client.connection import Connect, Socket, tcp_connect
from logquake.client.settings import Address
from logquake.cluster.security.cluster_security import MECHANISM, ClusterSecurity
from logquake.node.authentication.sasl_client import (
    LoggedIn,
    NotAuthenticatedError,
    SaslClientAuthenticator,
)
from logquake.node.authentication.scram_client import ScramClient, ScramLogin
from logquake.wire.errors import ProtocolError
from logquake.wire.header import LENGTH_BYTES

_CLIENT_ID = "logquake"
_MAX_ANSWER_BYTES = 64 * 1024
_NONCE_BYTES = 17


def connect_to(security: ClusterSecurity | None) -> Connect:
    """Of a cluster that is open to all, plain TCP. What fails raises OSError."""
    if security is None:
        return tcp_connect
    context = ssl.create_default_context(cafile=str(security.authority))
    login = ScramLogin(MECHANISM, security.user.name, security.user.password)

    def connect(address: Address, timeout_s: float) -> Socket:
        plain = socket.create_connection(address, timeout_s)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            secured = context.wrap_socket(plain, server_hostname=address.host)
        except BaseException:
            plain.close()
            raise
        try:
            _authenticate(secured, login)
        except BaseException:
            secured.close()
            raise
        return secured

    return connect


def _authenticate(connected: socket.socket, login: ScramLogin) -> None:
    mechanism = ScramClient(login, lambda: secrets.token_hex(_NONCE_BYTES))
    exchange = SaslClientAuthenticator(mechanism, _CLIENT_ID)
    step: bytes | LoggedIn = exchange.start()
    with connected.makefile("rb") as answers:
        while isinstance(step, bytes):
            connected.sendall(step)
            size = int.from_bytes(answers.read(LENGTH_BYTES))
            if not 0 < size <= _MAX_ANSWER_BYTES:
                raise ConnectionError("the broker closed the connection amid authentication")
            try:
                step = exchange.receive(answers.read(size))
            except (NotAuthenticatedError, ProtocolError) as error:
                raise ConnectionError(str(error)) from error
