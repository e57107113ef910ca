"""A command whose first question nobody answers says so, and goes on."""

from __future__ import annotations

import logging

import pytest

from logquake.cluster.cli.unanswered import saying_if_unanswered
from tests.waiting import wait_for

NETWORK = logging.getLogger("logquake.client.network.link_log")


def test_it_is_said_once_with_what_connections_met_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said: list[str] = []

    def told() -> str:
        said.append(capsys.readouterr().err)
        return "".join(said)

    with saying_if_unanswered(after_s=0.2):
        NETWORK.warning("node -1: %s", "refused")
        wait_for("word of it", told, lambda text: text.endswith("\n"))
    assert told() == "no broker answers yet, trying on: node -1: refused\n"


def test_nothing_is_said_of_what_is_answered_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    with saying_if_unanswered(after_s=60):
        NETWORK.warning("node -1: refused")
    assert capsys.readouterr().err == ""
