"""Whatever brokers speak, and whatever they say: each call ends, with a value or an error."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from logquake.client.admin.asking.by_broker import ByBroker
from logquake.client.errors import ClientError, TimedOutError, UnsupportedVersionError
from logquake.wire.api import response_type
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.wire.messages.consumer_group import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
)
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_membership import LeaveGroupRequest
from logquake.wire.schema import Message, encode
from logquake.wire.schema.fields import ArrayOf, Binary, Field, Scalar, StructOf, Text
from tests.unit.client.admin.brokers_in_memory import BrokersInMemory, Said
from tests.unit.client.admin.every_call import EVERY_CALL

NEWEST = range(1, 10)  # of every request; who knows no 1 tells of no controller
SEEDS = range(8)
FAR = 0.1  # of all numbers are at the ends of what they may be, or anywhere
NAMES = ("t", "u", "g", "h", "x", "y", "f", "alice", "bob", "consumer", "", "User:alice", "none")
NUMBERS = (0, 0, 0, 0, 1, 1, 2, 3, -1, 16, 35, 41, 14, 89, 127)


def empty(request: Message, _: int) -> Said:
    return answer_to(request)()


def answer_to(request: Message) -> type[Message]:
    key = request.__schema__.key
    found = None if key is None else response_type(key)
    assert found is not None
    return found


@pytest.mark.parametrize("newest", NEWEST)
def test_brokers_of_every_age_are_asked_what_they_can_carry(newest: int) -> None:
    """What they cannot is refused before anything leaves; each request is one of that version."""
    for name, call in EVERY_CALL.items():
        brokers = BrokersInMemory(empty, lambda _: newest)
        for outcome in brokers.outcomes(call):
            assert not isinstance(outcome, TimedOutError) or brokers.requests, name
            assert not isinstance(outcome, UnsupportedVersionError) or not brokers.requests, name
        assert all(version <= newest for _, version in brokers.requests), name


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_brokers_say_each_call_ends(seed: int) -> None:
    random = Random(seed)

    def anything(request: Message, version: int) -> Said:
        if random.random() < 0.1:
            return None
        while True:
            said = filled(answer_to(request), version, random)
            if random.random() < 0.7 or can_be_said(said, version):
                break
        return said if can_be_said(said, version) else answer_to(request)()

    for call in EVERY_CALL.values():
        brokers = BrokersInMemory(anything)
        for outcome in brokers.outcomes(call):
            assert not isinstance(outcome, Exception) or isinstance(outcome, ClientError)


def can_be_said(said: Message, version: int) -> bool:
    try:
        encode(said, version)
    except ValueError:
        return False
    return True


def filled(kind: type[Any], version: int, random: Random) -> Any:
    """With numbers and names that mean something in some place."""
    values = {
        name: value_of(field, version, random)
        for name, field in kind.__schema__.fields.items()
        if version in field.versions and name != "throttle_time_ms"
    }
    return kind(**values)


def value_of(field: Field, version: int, random: Random) -> Any:
    if version in field.nullable and random.random() < 0.1:
        return None
    return value(field.type, version, random)


def value(kind: Any, version: int, random: Random) -> Any:
    if isinstance(kind, ArrayOf):
        return [value(kind.element, version, random) for _ in range(random.randrange(3))]
    if isinstance(kind, StructOf):
        return filled(kind.struct, version, random)
    if isinstance(kind, Text):
        return random.choice(NAMES)
    if isinstance(kind, Binary):
        return random.randbytes(random.randrange(4))
    assert isinstance(kind, Scalar)
    if kind.code.endswith("s"):
        return bytes(kind.size)
    if kind.code not in "?d" and random.random() < FAR:
        end = 1 << (8 * kind.size - 1)
        return random.choice((end - 1, -end, random.randrange(-end, end)))
    return {"?": bool, "d": float}.get(kind.code, int)(random.choice(NUMBERS))


def test_what_nobody_answers_is_told_in_time() -> None:
    for name, call in EVERY_CALL.items():
        brokers = BrokersInMemory(lambda *_: None)
        for outcome in brokers.outcomes(call):
            errors = outcome.errors.values() if isinstance(outcome, ByBroker) else [outcome]
            assert {type(error) for error in errors} == {TimedOutError}, name
        assert 39_000 <= brokers.clock.now <= 42_000, name


def test_a_call_of_two_steps_has_one_time() -> None:
    """The members are told late, and nobody answers that they are removed."""

    def says(request: Message, _: int) -> Said:
        if isinstance(request, FindCoordinatorRequest):
            return FindCoordinatorResponse(
                coordinators=[Coordinator(key="g", node_id=1, host="broker", port=9001)]
            )
        if isinstance(request, ConsumerGroupDescribeRequest):
            brokers.clock.now += 25_000
            return ConsumerGroupDescribeResponse(
                groups=[DescribedGroup(group_id="g", members=[Member(member_id="m")])]
            )
        return None

    brokers = BrokersInMemory(says)
    [outcome] = brokers.outcomes(EVERY_CALL["remove_all_members"])
    assert isinstance(outcome, TimedOutError)
    assert isinstance(brokers.requests[-1][0], LeaveGroupRequest)
    assert 39_000 <= brokers.clock.now <= 42_000


def test_what_versions_are_told_is_no_call() -> None:
    """ApiVersions opens each connection; describe_features asks it once more."""
    brokers = BrokersInMemory(lambda *_: ApiVersionsResponse(finalized_features_epoch=4))
    (outcome,) = brokers.outcomes(EVERY_CALL["describe_features"])
    assert outcome.finalized_epoch == 4
