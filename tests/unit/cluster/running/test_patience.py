"""How long a cluster's own admin client waits."""

from __future__ import annotations

from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.reading import read
from logquake.cluster.running.observed import ANSWER_TIMEOUT_S, CHANGE_TIMEOUT_S, patience


def test_what_takes_long_is_waited_for_and_who_lets_nobody_in_is_not() -> None:
    keys = patience(60, CHANGE_TIMEOUT_S)
    config = read(AdminConfig, {"bootstrap_servers": "localhost:9092", **keys})
    assert config.default_api_timeout_ms == 60_000
    assert config.request_timeout_ms == CHANGE_TIMEOUT_S * 1000
    assert config.socket_connection_setup_timeout_max_ms == ANSWER_TIMEOUT_S * 1000


def test_no_wait_is_longer_than_the_whole() -> None:
    assert set(patience(0.5, CHANGE_TIMEOUT_S).values()) == {500}
