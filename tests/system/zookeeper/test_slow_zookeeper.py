"""A server that answers late is found all the same, and keeps its clients."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from logquake.cluster.processes.ports import LOOPBACK
from logquake.cluster.zookeeper.server import wait_until_serving
from logquake.zk.kazoo_session import KazooSession
from logquake.zk.operations import Exists
from tests.system.zookeeper.client import Client
from tests.system.zookeeper.relay import relay_to
from tests.waiting import PATIENCE_S

SESSION_TIMEOUT_MS = 12_000
# kazoo alone gives up two thirds of the session after the last request, at the latest.
SLOW_S = 8.5
DELAY_S = 0.3


def test_a_connection_is_not_given_up_while_the_session_lives(zookeeper_port: int) -> None:
    with relay_to(zookeeper_port) as relay:
        hosts = f"127.0.0.1:{relay.port}"
        client = Client(partial(KazooSession, hosts, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS))
        client.settle()
        relay.hold_answers()
        client.run_for(SLOW_S)
        relay.release_answers()
        assert client.perform(Exists("/")) is not None
        client.session.close()
    assert client.log == ["connected"]


def test_a_server_that_answers_late_is_found_to_serve(zookeeper_server: Any) -> None:
    """Each answer takes longer than the first probes wait for."""
    begun_s = time.monotonic()
    with relay_to(zookeeper_server.port, answer_delay_s=DELAY_S) as relay:
        wait_until_serving(
            zookeeper_server.process,
            zookeeper_server.directory,
            LOOPBACK,
            relay.port,
            timeout_s=PATIENCE_S,
        )
    assert time.monotonic() - begun_s >= DELAY_S
