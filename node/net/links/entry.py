"""How a link gets in at the other broker's listener."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass

from logquake.wire.sasl.authenticator import SaslClientAuthenticator


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """Neither: the listener is PLAINTEXT's. ``report`` is told whom it could not enter, and why."""

    tls: ssl.SSLContext | None = None
    new_login: Callable[[], SaslClientAuthenticator] | None = None
    report: Callable[[str, str], None] = lambda _subject, _why: None


OPEN_ENTRY = LinkEntry()
