"""Makes what every client needs from its configuration: connections, metadata, a network client."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from logquake.client.clock import Clock, SystemClock
from logquake.client.driving.way_in import WayIn
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.topics_in_use import WantedTopics
from logquake.client.settings.common import CommonConfig
from logquake.client.tls_and_sasl import way_in_of


class Foundation(NamedTuple):
    """``updates`` is the core to poll by whoever asks for nothing but metadata."""

    clock: Clock
    random: Random
    way_in: WayIn
    links: Links
    network: NetworkClient
    metadata: Metadata
    updates: MetadataUpdates


def lay_foundation(
    config: CommonConfig,
    *,
    topics: WantedTopics | None = None,
    clock: Clock | None = None,
    random: Random | None = None,
) -> Foundation:
    """Nothing is connected to yet: a driver begins that. ``topics`` as `Metadata` has them.

    Raises SettingsError.
    """
    clock = clock or SystemClock()
    way_in = way_in_of(config, clock)
    random = random or Random()
    metadata = Metadata(config.metadata(), config.bootstrap_servers, random, topics)
    links = Links(
        config.network(),
        random,
        new_login=way_in.new_login,
        on_ended=metadata.request_update,
    )
    network = NetworkClient(config.network(), links, metadata, random)
    updates = MetadataUpdates(config.metadata(), network, metadata)
    return Foundation(clock, random, way_in, links, network, metadata, updates)
