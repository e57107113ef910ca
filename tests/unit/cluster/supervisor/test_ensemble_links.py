"""How servers of an ensemble find each other by proxies: names, addresses, ports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from logquake.cluster.processes.ports import hold_port_for_java, port_of
from logquake.cluster.supervisor.ensemble_links import EnsembleLinks, told_name
from logquake.cluster.supervisor.laid_links import LaidLinks
from logquake.cluster.zookeeper.program import Peer

SERVERS = {"zookeeper-1": 1, "zookeeper-2": 2, "zookeeper-3": 3}


@pytest.fixture
def peers() -> Iterator[dict[str, Peer]]:
    with ExitStack() as held:

        def port() -> int:
            return port_of(held.enter_context(hold_port_for_java()))

        yield {
            name: Peer(number, told_name(number), port(), port())
            for name, number in SERVERS.items()
        }


@pytest.fixture
def links(peers: dict[str, Peer]) -> Iterator[EnsembleLinks]:
    links = EnsembleLinks(peers)
    yield links
    links.close()


def test_each_server_has_two_links_to_each_other_one(
    links: EnsembleLinks, peers: dict[str, Peer]
) -> None:
    ends = [(link.dialler, link.dialled, link.leads_to[1]) for link in links.links]
    assert sorted(ends) == sorted(
        (dialler, dialled, port)
        for dialler in SERVERS
        for dialled in SERVERS
        if dialler != dialled
        for port in (peers[dialled].quorum_port, peers[dialled].election_port)
    )
    assert len({link.listens for link in links.links}) == len(links.links)


def test_one_name_and_port_lead_each_server_to_its_own_proxy(links: EnsembleLinks) -> None:
    for link in links.links:
        name = told_name(SERVERS[link.dialled])
        host, port = link.listens
        assert f"{host} {name}\n" in links.hosts_of(SERVERS[link.dialler])
        assert port == link.leads_to[1]
        assert f"{link.leads_to[0]} {name}\n" in links.hosts_of(SERVERS[link.dialled])


def test_they_are_laid_with_the_brokers_own_and_stay_when_a_broker_goes(
    links: EnsembleLinks,
) -> None:
    laid = LaidLinks("127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183", secure=False)
    laid.lay_between_zookeepers(links.links)
    laid.lay(1, 30001, 9092)
    assert {*links.links} < {*laid.plan.links}
    laid.take_up(1)
    assert laid.plan.links == links.links
    laid.close()
