from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from logquake.cluster.links.plan import Link, LinkPlan
from logquake.cluster.processes.ports import hold_port
from logquake.cluster.supervisor.laid_links import LaidLinks

BROKERS = {1: 30001, 2: 30002}
CLIENTS = {1: 9092, 2: 9093}


@contextmanager
def laid(zookeeper: str = "127.0.0.1:2181", *, secure: bool = False) -> Iterator[LaidLinks]:
    links = LaidLinks(zookeeper, secure=secure)
    for broker_id, listens in BROKERS.items():
        links.lay(broker_id, listens, CLIENTS[broker_id])
    try:
        yield links
    finally:
        links.close()


def between(links: LaidLinks, dialler: str, dialled: str) -> Link:
    [link] = [
        each for each in links.plan.links if (each.dialler, each.dialled) == (dialler, dialled)
    ]
    return link


def test_every_pair_has_a_link_of_its_own() -> None:
    with laid() as links:
        assert {(each.dialler, each.dialled) for each in links.plan.links} == {
            ("clients", "broker-1"),
            ("clients", "broker-2"),
            ("broker-1", "broker-2"),
            ("broker-2", "broker-1"),
            ("broker-1", "zookeeper"),
            ("broker-2", "zookeeper"),
        }
        assert len({each.listens for each in links.plan.links}) == 6


def test_clients_dial_what_a_broker_tells_of_itself() -> None:
    with laid() as links:
        link = between(links, "clients", "broker-2")
        assert (link.listens, link.leads_to) == (("127.0.0.1", 9093), ("127.0.0.1", 30002))
        told = links.broker_properties(2, "SASL_SSL")["advertised.listeners"]
        assert told == "SASL_SSL://127.0.0.1:9093"


def test_a_broker_dials_its_own_proxies_and_itself_directly() -> None:
    with laid() as links:
        proxy = between(links, "broker-1", "broker-2").listens[1]
        routes = links.broker_properties(1, "PLAINTEXT")["logquake.network.routes"]
        assert routes == f"127.0.0.1:9092=127.0.0.1:30001,127.0.0.1:9093=127.0.0.1:{proxy}"


def test_several_zookeeper_servers_have_numbers_and_the_chroot_stays() -> None:
    with laid("127.0.0.1:2181,zk.example.org/kafka") as links:
        ports = [between(links, "broker-1", f"zookeeper-{n}").listens[1] for n in (1, 2)]
        assert between(links, "broker-1", "zookeeper-2").leads_to == ("zk.example.org", 2181)
        connect = links.broker_properties(1, "PLAINTEXT")["zookeeper.connect"]
        assert connect == f"127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}/kafka"


def test_requests_can_be_read_in_the_open_alone() -> None:
    with laid() as links:
        assert between(links, "clients", "broker-1").carries_requests
        assert not between(links, "broker-1", "zookeeper").carries_requests
    with laid(secure=True) as links:
        assert not any(each.carries_requests for each in links.plan.links)


def test_who_comes_later_has_links_with_all_and_the_others_are_told_the_way() -> None:
    with laid() as links:
        links.lay(4, 30004, 9095)
        assert {(each.dialler, each.dialled) for each in links.plan_of(4).links} == {
            ("clients", "broker-4"),
            ("broker-1", "broker-4"),
            ("broker-2", "broker-4"),
            ("broker-4", "broker-1"),
            ("broker-4", "broker-2"),
            ("broker-4", "zookeeper"),
        }
        proxy = between(links, "broker-1", "broker-4").listens[1]
        assert links.routes_to(4)[1] == ("127.0.0.1:9095", f"127.0.0.1:{proxy}")
        assert LinkPlan.from_json(json.loads(json.dumps(links.plan.to_json()))) == links.plan


def test_of_who_goes_no_link_and_no_port_is_left() -> None:
    with laid() as links:
        freed = between(links, "broker-1", "broker-2").listens[1]
        links.take_up(2)
        assert links.plan.ends == {"clients", "broker-1", "zookeeper"}
        with hold_port(freed):
            pass
