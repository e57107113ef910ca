"""Who may ask: whoever has the token, and no page in a browser."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

_SCHEME = "Bearer "


@dataclass(frozen=True, slots=True)
class Guard:
    """``port`` is where it listens, on loopback."""

    token: str
    port: int

    def refusal(self, headers: Mapping[str, str]) -> tuple[HTTPStatus, str] | None:
        """Why a request with these headers, their names in small letters, is not served.

        A page that found a name for 127.0.0.1 (DNS rebinding) sends that name as the Host.
        """
        ours = {f"{host}:{self.port}" for host in ("127.0.0.1", "localhost")}
        if headers.get("host") not in ours:
            return HTTPStatus.FORBIDDEN, f"the Host has to be 127.0.0.1:{self.port}"
        if "origin" in headers:
            return HTTPStatus.FORBIDDEN, "no page in a browser may ask"
        sent = headers.get("authorization", "")
        if not hmac.compare_digest(sent.encode(), (_SCHEME + self.token).encode()):
            return HTTPStatus.UNAUTHORIZED, "say Authorization: Bearer TOKEN, as logquake env does"
        return None
