"""Cards out of literal histories."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from logquake.chaos.card.card import Card, Figures
from logquake.chaos.card.limits import exceeded, limit_of
from logquake.chaos.card.measuring import card_of
from logquake.chaos.card.table import as_table
from logquake.chaos.history.rows import Kind, Row
from logquake.cluster.errors import ClusterError

SECOND = 1_000_000
BEGINS_S, ENDS_S = 20.0, 24.0


def at(seconds: float, what: str, subject: str = "orders-0", **fields: Any) -> Row:
    process = fields.pop("process", "app")
    return Row(int(seconds * SECOND) + SECOND, process, 0, what, subject, **fields)


def fault() -> list[Row]:
    begun = Row(0, "harness", 7, Kind.FAULT_BEGUN, "broker-1", after={"kind": "kill"})
    ended = Row(0, "harness", 8, Kind.FAULT_ENDED, "broker-1", caused_by=7)
    times = (int((each + 1) * SECOND) for each in (BEGINS_S, ENDS_S))
    return [row._replace(at_us=us) for row, us in zip((begun, ended), times, strict=True)]


def exchanged(seconds: float, api: str, why: str | None = None, **after: Any) -> Row:
    before = {"asked_us": int((seconds - 0.01 + 1) * SECOND)} | after.pop("before", {})
    answer = None if why else after
    return at(
        seconds,
        Kind.EXCHANGED,
        api,
        process="links",
        key="app",
        before=before,
        after=answer,
        why=why,
    )


def steady(*ranges: tuple[float, float]) -> Iterable[Row]:
    """An ack every tenth of a second in each range, of a send of 10 ms before."""
    number = 0
    for begin, end in ranges:
        for tenth in range(int(begin * 10), int(end * 10)):
            number += 1
            yield at(tenth / 10 - 0.01, Kind.SEND, value=number)
            yield at(tenth / 10, Kind.ACKED, value=number, offset=number)


def card(*rows: Iterable[Row]) -> Card:
    return card_of(sorted((row for some in rows for row in some), key=lambda row: row.at_us))


def under_fault(made: Card, client: str = "app") -> Figures:
    (entry,) = made.faults
    return entry.clients[client]


def test_the_longest_time_without_an_ack_and_when_they_came_again() -> None:
    made = card(fault(), steady((1, 20), (23, 50)))
    figures = under_fault(made)
    assert figures.unavailable_ms == {"produce": 3000}
    assert figures.recovered_ms == {"produce": 3000}
    assert made.calm["app"].unavailable_ms == {"produce": 100}
    assert (made.faults[0].begins_s, made.faults[0].lasting_s) == (19.01, 4.0)


def test_who_was_not_hurt_recovered_at_once() -> None:
    assert under_fault(card(fault(), steady((1, 50)))).recovered_ms == {"produce": 0}


def test_who_tries_in_vain_has_not_recovered() -> None:
    tries = [at(each, Kind.SEND, value=1000 + each) for each in range(20, 60)]
    made = card(fault(), steady((1, 20)), tries)
    assert under_fault(made).recovered_ms == {"produce": None}
    assert list(exceeded(made, [limit_of("recovered_ms=1000")])) == [
        "app, kill broker-1 at 19.0 s: recovered_ms (produce): not again within its time"
    ]


def test_who_had_nothing_to_do_was_not_unavailable() -> None:
    made = card(fault(), steady((1, 15), (50, 60)))
    assert made.faults[0].clients == {}


def test_a_client_without_a_history_is_seen_by_the_links() -> None:
    batches: dict[str, Any] = {"before": {"batches": [["orders-0", 77, 1]]}}
    made = card(
        fault(),
        [exchanged(each, "Produce", offsets={"orders-0": each}) for each in range(1, 20)],
        [exchanged(20.5, "Produce", why="no answer", **batches)],
        [exchanged(21, "Produce", errors={"NOT_LEADER_OR_FOLLOWER": 2}, **batches)],
        [exchanged(21.1 + each / 100, "Metadata") for each in range(50)],
        [exchanged(22, "JoinGroup", generation=4, before={"group": "readers"})],
        [exchanged(22.5, "JoinGroup", generation=4, before={"group": "readers"})],
        [exchanged(23, "Produce", offsets={"orders-0": 20})],
        [at(20, Kind.STORED_TWICE, process="stored", key="app", offset=5, before=4)],
    )
    figures = under_fault(made)
    assert figures.unavailable_ms == {"produce": 3000}
    assert figures.failed == {"NOT_LEADER_OR_FOLLOWER": 2, "no answer": 1}
    assert (figures.retries, figures.rebalances, figures.duplicates) == (1, 1, 1)
    assert figures.requests_per_s == {"JoinGroup": 2, "Metadata": 50, "Produce": 2}


def test_what_a_client_tells_goes_before_what_the_links_saw() -> None:
    made = card(
        fault(),
        steady((1, 50)),
        [exchanged(each, "Produce", errors={"NOT_LEADER_OR_FOLLOWER": 1}) for each in (21, 22)],
        [at(20, Kind.STORED_TWICE, process="stored", key="app", offset=5, before=4)],
    )
    figures = under_fault(made)
    assert figures.unavailable_ms == {"produce": 100}
    assert figures.failed == {"NOT_LEADER_OR_FOLLOWER": 2}
    assert figures.duplicates == 0


def test_sends_that_are_read_twice_or_late_are_put_down_to_the_fault_of_their_time() -> None:
    sends = [at(20.1 + each / 10, Kind.SEND, value=each) for each in range(4)]
    read = at(60, Kind.POLLED, process="final-reader-orders", offset=0, values=[0, 2, 1, 2, -1, 3])
    figures = under_fault(card(fault(), sends, [read]))
    assert (figures.duplicates, figures.reordered) == (1, 1)


def test_onlookers_have_no_card() -> None:
    read = at(22, Kind.POLLED, process="final-reader-orders", offset=0, values=[1])
    ours = exchanged(22, "Metadata")._replace(key="logquake")
    assert card(fault(), [read, ours]).total == {}


def test_a_program_named_as_tools_begin_has_a_card() -> None:
    shop = exchanged(22, "Metadata")._replace(key="logquake-shop")
    assert list(card(fault(), [shop]).total) == ["logquake-shop"]


def test_limits_are_of_a_figure_or_of_a_part_of_it() -> None:
    made = card(fault(), steady((1, 20), (23, 50)))
    assert list(exceeded(made, map(limit_of, ("unavailable_ms=3000", "failed=0")))) == []
    assert list(exceeded(made, [limit_of("unavailable_ms.fetch=1")])) == []
    assert list(exceeded(made, [limit_of("unavailable_ms.produce=2999")])) == [
        "app, kill broker-1 at 19.0 s: unavailable_ms (produce) is 3000, 2999 at most"
    ]


@pytest.mark.parametrize("text", ["duplicates", "patience=3", "duplicates=few"])
def test_no_limit(text: str) -> None:
    with pytest.raises(ClusterError, match="is no limit"):
        limit_of(text)


def test_a_card_is_a_document_and_a_table() -> None:
    made = card(fault(), steady((1, 20), (23, 50)))
    assert Card.from_json(json.loads(json.dumps(made.to_json()))) == made
    lines = as_table(made).splitlines()
    assert lines[1].split("  ")[0] == "19.0 s kill broker-1 for 4.0 s"
    assert [line.split()[:2] for line in lines[2:]] == [["in", "calm"], ["in", "all"]]
