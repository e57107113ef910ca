"""The table of served requests: from (key, version) to the handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from logquake.node.quotas.quotas import Quotas
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.node.requests.throttling import handle_counted
from logquake.wire.messages.api_versions import ApiVersion

Handle = Callable[[Request, Any], None]


def unguarded(handler: Handler[Any]) -> Handle:
    """Every request gets to its handler."""
    return handler.handle


class ApiTable:
    """What this broker serves. Versions were checked by the connection, against ``served``.

    ``around`` may put something before a handler that decides whether the request gets there.
    """

    def __init__(
        self,
        handlers: Iterable[Handler[Any]],
        quotas: Quotas,
        around: Callable[[Handler[Any]], Handle] = unguarded,
    ) -> None:
        self._quotas = quotas
        self._around = around
        self._versions: dict[int, range] = {}
        self._handle: dict[int, Handle] = {}
        self._advertised: list[ApiVersion] | None = None
        for handler in handlers:
            self.add(handler)

    @property
    def served(self) -> Mapping[int, range]:
        """Versions by API key, in the order of the keys."""
        return {key: self._versions[key] for key in sorted(self._versions)}

    def add(self, handler: Handler[Any]) -> None:
        """Add a handler that itself needs the table (ApiVersions, Envelope)."""
        self._versions[handler.key] = handler.versions
        self._handle[handler.key] = self._around(handler)
        self._advertised = None

    @property
    def advertised(self) -> list[ApiVersion]:
        """The same list each time: every client that connects is told."""
        if self._advertised is None:
            self._advertised = advertised(self.served)
        return self._advertised

    def handle(self, request: Request) -> None:
        """Of a key and a version that are served: it is replied to, now or later."""
        handle = self._handle[request.header.api_key]
        if self._quotas.are_set:
            handle_counted(self._quotas, request, handle)
        else:
            handle(request, request.body)


def advertised(served: Mapping[int, range]) -> list[ApiVersion]:
    """The table in the shape of the ApiVersions response."""
    return [
        ApiVersion(api_key=key, min_version=versions.start, max_version=versions.stop - 1)
        for key, versions in served.items()
    ]
