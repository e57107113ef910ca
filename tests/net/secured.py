"""Servers that ask who is there, for tests: an authority, users, and clients that can do TLS."""

from __future__ import annotations

import contextlib
import datetime
import ssl
from functools import cache

from logquake.cluster.security.certificates import Authority, Certificate
from logquake.node.authentication.credentials import Credentials
from logquake.node.authentication.mechanisms import EnabledMechanism, PlainUsers
from logquake.node.net.admittance import Admittances, ListenerSecurity
from logquake.node.process.doors import Doors
from logquake.node.settings.security import LinkSecurity, SecuritySettings
from logquake.seams.tls.settings import (
    ClientAuth,
    KeyStore,
    StoreType,
    TlsSettings,
    TrustStore,
)
from logquake.wire.sasl.logins import PlainLogin
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from tests.doubles.scheduler import ManualScheduler
from tests.net.server import CLIENTS, SERVED, Client, Server

MECHANISMS = {
    "PLAIN": EnabledMechanism(PlainUsers({"alice": "hush", "broker": "among us"})),
    "SCRAM-SHA-512": EnabledMechanism(ScramMechanism.SCRAM_SHA_512),
}
BROKER = PlainLogin("broker", "among us")


@cache
def authority() -> Authority:
    return Authority("test", datetime.datetime.now(datetime.UTC))


@cache
def issued(name: str) -> Certificate:
    return authority().issue(name, ["127.0.0.1", "localhost"])


def tls(name: str | None = "server", client_auth: ClientAuth = ClientAuth.NONE) -> TlsSettings:
    """Of whom the certificate is, None of nobody."""
    key_store = None
    if name is not None:
        ours = issued(name)
        key_store = KeyStore(StoreType.PEM, certificate_chain=ours.certificate, key=ours.key)
    trust = TrustStore(StoreType.PEM, certificates=authority().certificate)
    return TlsSettings(key_store, trust, client_auth)


def doors(listener: ListenerSecurity, link: LinkSecurity | None = None) -> Doors:
    return Doors.of(SecuritySettings({CLIENTS: listener}, link or LinkSecurity()))


def admittances(
    listener: ListenerSecurity, scheduler: ManualScheduler | None = None
) -> Admittances:
    return doors(listener).admittances(Credentials(), scheduler or ManualScheduler(), SERVED)


class TlsClient(Client):
    """Shakes hands first; everything else is as with another client."""

    def __init__(self, server: Server, context: ssl.SSLContext, name: str = "localhost") -> None:
        super().__init__(server, server.acceptor.port)
        secured = context.wrap_socket(
            self.socket, server_hostname=name, do_handshake_on_connect=False
        )
        self.socket = secured
        server.clients.append(self)

        def shaken() -> bool:
            with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                secured.do_handshake()
                return True
            return False

        server.until(shaken)

    def is_closed(self) -> bool:
        try:
            return self.socket.recv(1) == b""
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
