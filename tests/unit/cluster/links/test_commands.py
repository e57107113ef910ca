from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from logquake.cluster.links.board import Board
from logquake.cluster.links.commands import LinkCommands
from logquake.cluster.links.effects import Cut, LinkFault, Path
from logquake.cluster.links.plan import Link, LinkPlan
from logquake.cluster.links.requests.actions import Hold
from logquake.cluster.links.requests.injections import Injections
from logquake.cluster.links.requests.rules import RequestFault
from logquake.wire.api import ApiKey
from tests.doubles.scheduler import ManualScheduler

PLAN = LinkPlan((Link("clients", "broker-1", ("127.0.0.1", 1), ("127.0.0.1", 2)),))
CUT = LinkFault(Cut(), (Path(("clients",), ("broker-1",)),)).to_json()


class Asked:
    """One who asks, and what was said."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def answer(self, value: Any) -> None:
        self.said.append(value)

    def refuse(self, line: str) -> None:
        self.said.append(line)


class Links:
    def __init__(self, plan: LinkPlan = PLAN) -> None:
        self.scheduler = ManualScheduler()
        self.board = Board(plan.ends, lambda: None)
        self.commands = LinkCommands(self.scheduler, lambda: plan, self.board, Injections())
        self.asker = Asked()

    def ask(self, verb: str, **arguments: Any) -> Any:
        self.commands.handle({"do": verb, **arguments}, self.asker)
        return self.asker.said.pop()

    @property
    def held(self) -> list[int]:
        return [each.id for each in self.board.held]


def test_a_fault_goes_with_who_asked_for_it() -> None:
    links = Links()
    links.ask("begin", fault=CUT)
    staying = links.ask("begin", fault=CUT, stays=True)
    links.commands.heal_those_of(links.asker)
    assert links.held == [staying["id"]]


def test_a_fault_ends_in_time() -> None:
    links = Links()
    begun = links.ask("begin", fault=CUT, for_ms=500)
    assert begun["until_ms"] == begun["since_ms"] + 500
    links.scheduler.advance(499)
    assert links.held == [begun["id"]]
    links.scheduler.advance(1)
    assert links.held == []


def test_faults_are_told_and_healed() -> None:
    links = Links()
    ids = [links.ask("begin", fault=CUT)["id"] for _ in range(3)]
    assert [each["id"] for each in links.ask("list")] == ids
    assert links.ask("heal", id=ids[0]) is True
    assert links.ask("heal", id=ids[0]) is False
    assert links.ask("heal-all") == 2


@pytest.mark.parametrize(
    ("verb", "arguments", "said"),
    [
        ("burn", {}, "no command 'burn'"),
        ("heal", {}, "not understood"),
        ("heal", {"id": "one"}, "not understood"),
        ("begin", {"fault": {"kind": "burn"}}, "no fault of links"),
        ("begin", {"fault": CUT, "for_ms": "long"}, "not understood"),
        ("begin", {"fault": {**CUT, "paths": [[["broker-9"], ["clients"]]]}}, "no link ends at"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_begins(
    verb: str, arguments: dict[str, Any], said: str
) -> None:
    links = Links()
    assert said in links.ask(verb, **arguments)
    assert links.held == []


def test_requests_that_cannot_be_read_are_not_promised() -> None:
    (link,) = PLAN.links
    encrypted = LinkPlan((replace(link, carries_requests=False),))
    hold = RequestFault(ApiKey.FETCH, Hold()).to_json()
    assert "encrypted" in Links(encrypted).ask("begin", fault=hold)
    assert Links().ask("begin", fault=hold)["kind"] == "request"
    to_clients = RequestFault(ApiKey.FETCH, Hold(), targets=("clients",)).to_json()
    assert "no requests that can be read go anyone -> clients" in Links().ask(
        "begin", fault=to_clients
    )
