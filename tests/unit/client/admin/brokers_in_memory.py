"""Brokers that an admin client's core talks to, in the place of sockets; a test says how."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from logquake.client.admin.administering import Administering
from logquake.client.network.effects import Close, Connect, Effect, Resolve, Write
from logquake.client.pending import Promise
from logquake.wire.api import ApiKey, request_type
from logquake.wire.header import decode_request_header
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
)
from logquake.wire.schema import Message, decode
from tests.doubles.link_bytes import tell
from tests.parts import joined
from tests.unit.client.cluster_in_memory import FakeClock, all_versions

BROKERS = (1, 2, 3)
PASSES = 2_000
STEP_MS = 250

Said = Message | None
"""None of what is not answered."""


class BrokersInMemory:
    """``says`` is told a request and its version; what brokers know of each other they tell so."""

    def __init__(
        self,
        says: Callable[[Message, int], Said],
        newest: Callable[[int], int | None] = lambda _: None,
    ) -> None:
        self.clock = FakeClock(0)
        self.requests: list[tuple[Message, int]] = []
        self._says = says
        self._newest = newest
        self.administering = Administering(
            {"bootstrap.servers": "broker:9000", "default.api.timeout.ms": 40_000},
            {},
            clock=self.clock,
            random=Random(7),
        )
        self._links = self.administering.foundation.links

    def outcomes(self, call: Callable[[Administering], Any]) -> list[Any]:
        """What each promise comes to, in whatever time."""
        begun = call(self.administering)
        promises: list[Promise[Any]] = list(begun.values()) if isinstance(begun, dict) else [begun]
        for _ in range(PASSES):
            if all(each.is_done for each in promises) and self.administering.core.is_idle:
                return [each.outcome for each in promises]
            self._pass()
        raise AssertionError(f"it never ends: {self.requests[-3:]}")

    def _pass(self) -> None:
        self.administering.core.poll(self.clock.now)
        effects = self._links.take_effects()
        for effect in effects:
            self._perform(effect)
        if not effects:
            self.clock.now += STEP_MS

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, Resolve):
            self._links.resolved(effect.link, ["10.0.0.1"], self.clock.now)
        elif isinstance(effect, Connect):
            self._links.connected(effect.link, self.clock.now)
        elif isinstance(effect, Write):
            self._links.written(effect.link)
            self._take(effect.link, joined(effect.parts)[4:])
        else:
            assert isinstance(effect, Close)

    def _take(self, link: int, frame: bytes) -> None:
        header, start = decode_request_header(frame)
        kind = request_type(header.api_key)
        assert kind is not None
        request = decode(kind, header.api_version, frame, start)
        said: Said
        if header.api_key == ApiKey.API_VERSIONS and header.api_version == 3:
            said = self._versions()
        elif isinstance(request, MetadataRequest) and request.topics == []:
            said = _brokers()
        else:
            self.requests.append((request, header.api_version))
            said = self._says(request, header.api_version)
        if said is not None:
            tell(self._links, link, header, said, self.clock.now)

    def _versions(self) -> ApiVersionsResponse:
        versions = all_versions()
        for each in versions.api_keys:
            newest = self._newest(each.api_key)
            if newest is not None:
                each.max_version = min(each.max_version, newest)
        return versions


def _brokers() -> MetadataResponse:
    brokers = [
        MetadataResponseBroker(node_id=each, host="broker", port=9000 + each) for each in BROKERS
    ]
    return MetadataResponse(brokers=brokers, controller_id=1)
