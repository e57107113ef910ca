"""The table of served requests: from (key, version) to the handler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.messages.api_versions import ApiVersion


class ApiTable:
    """What this broker serves. Versions were checked by the connection, against ``served``."""

    def __init__(self, handlers: Iterable[Handler[Any]]) -> None:
        self._handlers: dict[int, Handler[Any]] = {each.key: each for each in handlers}

    @property
    def served(self) -> Mapping[int, range]:
        """Versions by API key, in the order of the keys."""
        return {key: self._handlers[key].versions for key in sorted(self._handlers)}

    def add(self, handler: Handler[Any]) -> None:
        """Add a handler that itself needs the table (ApiVersions, Envelope)."""
        self._handlers[handler.key] = handler

    def handle(self, request: Request) -> None:
        """Of a key and a version that are served: it is replied to, now or later."""
        self._handlers[request.header.api_key].handle(request, request.body)


def advertised(served: Mapping[int, range]) -> list[ApiVersion]:
    """The table in the shape of the ApiVersions response."""
    return [
        ApiVersion(api_key=key, min_version=versions.start, max_version=versions.stop - 1)
        for key, versions in served.items()
    ]
