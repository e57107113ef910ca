"""Connections a second: each is made, says who it is, asks for ApiVersions once, and is closed."""

from __future__ import annotations

from functools import partial
from secrets import token_hex

from benchmarks.clients.line import CLIENT_ID, Line, connect
from benchmarks.clients.repeating import repeat
from benchmarks.clients.tls_line import TlsLine, client_context
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.security.brokers import MECHANISM, PASSWORD, USER, Listener, Secured
from logquake.wire.sasl.authenticator import LoggedIn, SaslClientAuthenticator
from logquake.wire.sasl.scram_client import ScramClient, ScramLogin

CLIENTS = 8  # at a time

_TITLES = {
    Listener.OPEN: "open",
    Listener.TLS: "TLS",
    Listener.SCRAM: "SCRAM",
    Listener.BOTH: "TLS and SCRAM",
}
_WARM_UP_SHARE = 0.375


def connects_cases(seconds: float) -> list[Case[Secured]]:
    return [
        Case(
            f"connect, {title}",
            partial(run, listener=listener, seconds=seconds),
            partial(run, listener=listener, seconds=seconds * _WARM_UP_SHARE),
        )
        for listener, title in _TITLES.items()
    ]


def run(secured: Secured, listener: Listener, seconds: float) -> Figures:
    client = _Client(secured, listener)
    return repeat(secured.target, [client.come_and_go] * CLIENTS, seconds, "connect")


class _Client:
    """The password is salted once, as a client that comes again does it."""

    def __init__(self, secured: Secured, listener: Listener) -> None:
        self._address = secured.listeners[listener]
        self._listener = listener
        self._context = client_context(secured.authority)
        self._login = ScramLogin(MECHANISM, USER, PASSWORD)

    async def come_and_go(self) -> None:
        line = await self._connected()
        if self._listener.has_scram:
            await _authenticate(line, self._login)
        await line.greet()
        line.close()

    async def _connected(self) -> Line:
        connected = connect(self._address)
        if not self._listener.has_tls:
            return Line(connected)
        line = TlsLine(connected, self._context, self._address.host)
        await line.shake_hands()
        return line


async def _authenticate(line: Line, login: ScramLogin) -> None:
    client = SaslClientAuthenticator(ScramClient(login, token_hex), CLIENT_ID)
    said: bytes | LoggedIn = client.start()
    while not isinstance(said, LoggedIn):
        said = client.receive(await line.exchange(said))
