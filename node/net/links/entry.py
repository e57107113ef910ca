"""How a link gets in at the other broker's listener."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.authentication.sasl_client import SaslClientAuthenticator


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """Neither: the listener is PLAINTEXT's."""

    tls: ssl.SSLContext | None = None
    new_login: Callable[[], SaslClientAuthenticator] | None = None


OPEN_ENTRY = LinkEntry()
