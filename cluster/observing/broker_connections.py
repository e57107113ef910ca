"""A connection to each broker of which only that broker can say what is asked.

An admin client asks whoever knows; what one broker believes, of all brokers, is asked here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

from logquake.client.connection import Connection, connect_to_one
from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.client.errors import ClientError
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.wire.schema import Message

R = TypeVar("R", bound=Message)

Dial: TypeAlias = Callable[[Address], Connection]
"""One more connection, the caller's own. Raises ClientError."""


def dial_as(client_id: str, timeout_ms: int, way_in: WayIn = PLAIN) -> Dial:
    """What takes longer than ``timeout_ms`` is given up, connecting too."""
    return partial(_dial, client_id, timeout_ms, way_in)


def _dial(client_id: str, timeout_ms: int, way_in: WayIn, address: Address) -> Connection:
    settings = NetworkSettings(client_id=client_id, request_timeout_ms=timeout_ms)
    return connect_to_one(address, settings, way_in)


class BrokerConnections:
    """Each is kept for as long as its broker answers. Two threads may ask, if not the same one."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._open: dict[Address, Connection] = {}

    def ask(
        self, address: Address, request: Message, response: type[R], *, at_most: int | None = None
    ) -> R:
        """``at_most`` caps the version. Raises ClientError."""
        if address not in self._open:
            self._open[address] = self._dial(address)
        try:
            return self._open[address].request(request, response, at_most=at_most)
        except ClientError:
            self._let_go(address)
            raise

    def close(self) -> None:
        for address in list(self._open):
            self._let_go(address)

    def _let_go(self, address: Address) -> None:
        self._open.pop(address).close()
