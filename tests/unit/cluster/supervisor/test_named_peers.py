from __future__ import annotations

from collections.abc import Iterator

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.supervisor.named_peers import NamedPeers

ZOOKEEPER = "127.0.0.1:2181"


@pytest.fixture
def links() -> Iterator[NamedPeers]:
    links = NamedPeers(ZOOKEEPER)
    links.lay(1, 30001, 9092)
    links.lay(2, 30002, 9093)
    yield links
    links.close()


def test_a_name_leads_each_broker_to_its_own_proxy(links: NamedPeers) -> None:
    [link] = [
        one for one in links.plan.links if (one.dialler, one.dialled) == ("broker-1", "broker-2")
    ]
    told = links.broker_properties(2, "PLAINTEXT")["advertised.listeners"]
    name = told.rpartition("PEERS://")[2].partition(":")[0]
    assert f"{link.listens[0]} {name}\n" in links.hosts()[1]
    assert f"{link.leads_to[0]} {name}\n" in links.hosts()[2]  # itself without a proxy
    assert told == f"PLAINTEXT://127.0.0.1:9093,PEERS://{name}:{link.listens[1]}"


def test_peers_have_a_listener_of_their_own(links: NamedPeers) -> None:
    properties = links.broker_properties(2, "PLAINTEXT")
    [link] = [
        one for one in links.plan.links if one.dialler == "broker-1" and one.dialled == "broker-2"
    ]
    host, port = link.leads_to
    assert properties["listeners"] == f"PLAINTEXT://127.0.0.1:30002,PEERS://{host}:{port}"
    assert properties["inter.broker.listener.name"] == "PEERS"
    assert not any(key.startswith("logquake.") for key in properties)


def test_an_id_beyond_a_byte_has_no_address() -> None:
    with pytest.raises(ClusterError, match="254"):
        NamedPeers(ZOOKEEPER).lay(255, 30001, 9092)


def test_a_broker_that_came_has_a_name_for_all_and_one_that_went_for_none(
    links: NamedPeers,
) -> None:
    links.lay(3, 30003, 9094)
    assert all("broker-3" in hosts for hosts in links.hosts().values())
    links.take_up(3)
    assert not any("broker-3" in hosts for hosts in links.hosts().values())
    links.lay(3, 30003, 9094)  # its addresses are free again
