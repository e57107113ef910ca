"""Every request of every key and version is answered as a real Kafka 3.9.1 answered it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from logquake.wire.api import ApiKey, request_type
from tests.compat.every_request import (
    COMPARED_IN_DEPTH,
    COMPARED_ONCE,
    FIRST_ASKED,
    LATER,
    NO_ANSWER,
    PROPERTIES,
    TOPIC,
    Case,
    cases,
    is_answered,
    plain,
    stored,
)
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.requests.lone_broker import LoneBroker, NoReplyError

_ATTEMPTS = 5


@pytest.fixture
def alike(scheduler: ManualScheduler, journal: MemoryJournal) -> Iterator[LoneBroker]:
    """As the Kafka was whose answers are stored."""
    lone = LoneBroker(scheduler, journal, PROPERTIES)
    lone.start()
    for request, version in FIRST_ASKED:
        attempts = (lone.ask(request, version) for _ in range(_ATTEMPTS))
        assert any(map(is_answered, attempts)), request
    yield lone
    lone.broker.close()


def answer_of(broker: LoneBroker, case: Case) -> Any:
    try:
        return plain(broker.ask(case.request, case.version))
    except NoReplyError:
        return NO_ANSWER


def test_every_answer_is_as_a_real_kafkas(
    alike: LoneBroker, record_property: Callable[[str, object], None]
) -> None:
    """One after the other: what was changed shows itself in the answers that follow."""
    expected: Mapping[str, Any] = stored()
    differing = {}
    for case in cases(alike.create_topic(TOPIC)):
        found = answer_of(alike, case)
        alike.settle()
        if found != expected[case.name]:
            differing[case.name] = found, expected[case.name]
        record_property("requests, of every key and version, are answered as a real Kafka did", 1)
    assert not differing


def test_every_key_and_version_is_compared(alike: LoneBroker) -> None:
    names = stored().keys()
    compared = {(case.key, case.version) for case in cases(b"") if case.name in names}
    served = {(key, version) for key, versions in alike.served.items() for version in versions}
    assert served == compared


@pytest.mark.parametrize(("module", "keys"), COMPARED_IN_DEPTH.items())
def test_what_is_compared_in_depth_is_asked_there(module: str, keys: frozenset[ApiKey]) -> None:
    text = (Path(__file__).parents[3] / "compat" / module).read_text()
    asked = [(key, request_type(key)) for key in sorted(keys)]
    assert [key for key, kind in asked if kind and kind.__name__ not in text] == []


def test_every_key_is_compared_in_depth_or_says_why_not() -> None:
    in_depth = frozenset[ApiKey]().union(*COMPARED_IN_DEPTH.values())
    assert in_depth.isdisjoint(COMPARED_ONCE)
    assert in_depth | COMPARED_ONCE.keys() | set(LATER) == set(ApiKey)
