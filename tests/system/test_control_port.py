"""The control port of a cluster, asked as a program in any language asks: HTTP, and no more."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.cluster.control_port.server import MAX_BODY_BYTES
from logquake.cluster.state import Phase
from tests.conftest import nothing_left_behind
from tests.waiting import PATIENCE_S, wait_for


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("controlled") / "temporary"
    with nothing_left_behind(folder), Cluster(brokers=2, control=True, links=True) as kafka:
        yield kafka


class Asker:
    """One connection that is kept for all its requests."""

    def __init__(self, cluster: Cluster) -> None:
        port = cluster.control_port
        assert port is not None
        self._connection = http.client.HTTPConnection(
            port.url.removeprefix("http://"), timeout=PATIENCE_S
        )
        self._headers = {"Authorization": f"Bearer {port.token}"}

    def __call__(self, method: str, path: str, **sent: Any) -> tuple[int, Any]:
        body = json.dumps(sent) if sent else None
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        return answer.status, json.load(answer)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def ask(controlled: Cluster) -> Iterator[Asker]:
    asker = Asker(controlled)
    yield asker
    asker.close()


def test_a_leader_is_killed_waited_for_and_healed(controlled: Cluster, ask: Asker) -> None:
    assert ask("POST", "/do/create_topic", name="orders", replication_factor=2)[0] == 200
    leader = controlled.leader("orders", 0)
    status, killed = ask("POST", "/do/kill", target="leader:orders/0")
    assert (status, killed["member"]) == (200, f"broker-{leader}")
    since = {"topic": "orders", "partition": 0, "since": killed["fault"], "timeout": PATIENCE_S}
    status, elected = ask("POST", "/wait/leader_change", **since)
    assert (status, elected["result"]) == (200, 3 - leader)
    assert ask("DELETE", f"/faults/{killed['fault']}")[1]["healed"]
    whole = {"topic": "orders", "partition": 0, "size": 2, "timeout": PATIENCE_S}
    assert ask("POST", "/wait/isr", **whole)[0] == 200
    _, told = ask("GET", "/status")
    assert sorted(told["partitions"]["orders-0"]["isr"]) == [1, 2]
    assert told["bootstrap_servers"] == controlled.bootstrap_servers


def test_a_link_is_cut_for_a_time(controlled: Cluster, ask: Asker) -> None:
    status, cut = ask("POST", "/do/partition", groups=[[1], [2]], for_s=PATIENCE_S)
    assert status == 200, cut
    assert [one["kind"] for one in controlled.link_faults()] == ["cut"]
    assert len(ask("GET", "/faults")[1]["faults"]) == 1
    assert len(ask("DELETE", "/faults")[1]["faults"]) == 1
    assert not controlled.link_faults()


def test_what_heals_itself_is_healed(controlled: Cluster, ask: Asker) -> None:
    assert ask("POST", "/do/pause", target=1, for_s=0.01)[0] == 200
    wait_for(
        "broker 1 that runs again",
        lambda: controlled.state().brokers[0].phase,
        lambda phase: phase is Phase.RUNNING,
    )
    wait_for("the end of the fault", lambda: ask("GET", "/faults")[1]["faults"], lambda f: not f)


def test_a_wait_in_vain_says_what_it_saw(ask: Asker) -> None:
    status, told = ask("POST", "/wait/isr", topic="nowhere", partition=0, size=1, timeout=0.01)
    assert status == 504
    assert "ISR of nowhere-0" in told["error"]
    assert "broker-2" in told["error"]


def test_it_is_started_again_at_its_address(controlled: Cluster) -> None:
    controlled.restart("control-port")

    def answer() -> int:
        with contextlib.closing(Asker(controlled)) as ask:
            return ask("GET", "/faults")[0]

    assert answer() == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", b"401"),
        (b"GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n", b"403"),
        (b"POST /do/kill HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"POST /do/kill HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"413"),
        (b"POST /do/kill HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"413"),
        (b"PATCH / HTTP/1.1\r\n\r\n", b"501"),
        (b"GET /" + b"x" * MAX_BODY_BYTES + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", b"431"),
        (b"\x16\x03\x01\x00\xff\x00\r\n\r\n", b"400"),
    ],
)
def test_who_may_not_ask_or_makes_no_sense_is_refused(
    controlled: Cluster, sent: bytes, status: bytes
) -> None:
    port = controlled.control_port
    assert port is not None
    number = int(port.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", number), timeout=PATIENCE_S) as connection:
        connection.sendall(sent.replace(b"PORT", str(number).encode()))
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answer:
            assert status in answer.read()
