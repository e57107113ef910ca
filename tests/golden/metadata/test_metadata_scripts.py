"""Asking for metadata, command by command: whom, and when the configured brokers are gone back to.

It plays the commands of `tests/golden/network` too; what asks stands in the place of a client.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from logquake.client.network.effects import Effect, Resolve
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from tests.doubles.even_random import EvenRandom
from tests.golden.network.test_network import NetworkPlayer
from tests.golden.player import check_script, scripts_beside


class MetadataPlayer(NetworkPlayer):
    """A client is configured with one broker, ``boot``."""

    def do_asks(self, rebootstraps: str = "yes", **settings: str) -> None:
        """A client begins that asks so."""
        values: dict[str, Any] = {name: int(value) for name, value in settings.items()}
        asking = MetadataSettings(rebootstraps=rebootstraps == "yes", **values)
        random = EvenRandom()
        self._metadata = Metadata(asking, [("boot", 9092)], random)
        self._links = Links(NetworkSettings(), random, on_ended=self._metadata.request_update)
        self._network = NetworkClient(NetworkSettings(), self._links, self._metadata, random)
        self._updates = MetadataUpdates(asking, self._network, self._metadata)
        self._asked = {}
        self.do_wait("0")

    def do_wait(self, duration_ms: str) -> None:
        """It is polled whenever it wants to be."""
        until_ms = self._now_ms + int(duration_ms)
        due_ms = self._updates.next_due_ms(self._now_ms)
        while due_ms is not None and self._now_ms < due_ms < until_ms:
            self._poll(due_ms)
            due_ms = self._updates.next_due_ms(self._now_ms)
        self._poll(until_ms)

    def _poll(self, now_ms: int) -> None:
        earlier, self._now_ms = self._chronicle.take_log(), now_ms
        self._updates.poll(now_ms)
        for line in [*earlier, *(f"{now_ms}: {each}" for each in self.outcome())]:
            self._chronicle.log(line)

    def _perform(self, effect: Effect) -> None:
        """Names are known, and whoever is dialled is silent."""
        if isinstance(effect, Resolve):
            self._links.resolved(effect.link, [f"{effect.host}.example"], self._now_ms)
        else:
            super()._perform(effect)

    def do_due(self) -> None:
        due_ms = self._updates.next_due_ms(self._now_ms)
        self._chronicle.log("never" if due_ms is None else f"in {due_ms - self._now_ms} ms")

    def do_tells(self, link: str, *hosts: str) -> None:
        """Of the brokers 1, 2 and so on, that are there."""
        brokers = [
            MetadataResponseBroker(node_id=node, host=host, port=9092)
            for node, host in enumerate(hosts, 1)
        ]
        self.do_written(link)
        self._answer(int(link), MetadataResponse(brokers=brokers))
        self.do_wait("0")

    def do_wants(self) -> None:
        self._metadata.request_update()
        self.do_wait("0")


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    check_script(script, MetadataPlayer())
