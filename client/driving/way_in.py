"""How a client connects and authenticates: TLS or not, and as whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    from logquake.client.network.link import Login


@dataclass(frozen=True, slots=True)
class WayIn:
    """By default plain TCP without authentication. ``tls`` comes first, then a ``new_login``."""

    tls: ssl.SSLContext | None = None
    new_login: Callable[[], Login] | None = None


PLAIN = WayIn()
