"""Why nobody answers, as a client that gives up tells it."""

from __future__ import annotations

from random import Random

from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings

TO_ONE, TO_TWO = "no connection to one:1: refused", "no connection to two:2: refused"


def refuse(links: Links, network: NetworkClient, metadata: Metadata, which: int) -> None:
    node = metadata.nodes()[which]
    assert not network.ready(node.id, 0)
    link = network.link(node.id)
    assert link is not None
    links.lost(link.id, "refused", 0)


def test_it_is_told_once_every_broker_was_tried_in_vain_and_while_they_are_tried_again() -> None:
    metadata = Metadata(MetadataSettings(), [("one", 1), ("two", 2)], Random(0))
    links = Links(NetworkSettings(), Random(0))
    network = NetworkClient(NetworkSettings(), links, metadata, Random(0))
    assert network.trouble() == ""
    refuse(links, network, metadata, 0)
    assert network.trouble() == ""  # the other one may answer
    refuse(links, network, metadata, 1)
    assert network.trouble() == f" (no broker answers: {TO_ONE}; {TO_TWO})"
    later_ms = NetworkSettings().reconnect_backoff_max_ms
    assert not network.ready(metadata.nodes()[0].id, later_ms)
    assert TO_ONE in network.trouble()
    links.states.serves(metadata.nodes()[0].id)
    assert network.trouble() == ""
