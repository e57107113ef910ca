"""What no broker could be asked is refused in the call, by the name of the argument."""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from logquake.client.admin.administering import Administering
from logquake.client.admin.calls.calling import Calling
from logquake.client.admin.configs import AlterConfigOp
from logquake.client.admin.quotas import ClientQuotaEntity, ClientQuotaOp
from logquake.client.admin.scram import UserScramCredentialUpsertion
from logquake.client.admin.topics import NewPartitions, NewTopic
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import UnencodableError
from tests.unit.client.admin.brokers_in_memory import BrokersInMemory
from tests.unit.client.admin.every_call import EVERY_CALL, ID, PLACE, TOPIC
from tests.unit.client.admin.test_every_call import empty
from tests.unit.client.admin.test_odd_values import Asked

_SEVERAL = (collections.abc.Iterable, collections.abc.Collection, collections.abc.Sequence)


def all_calls() -> dict[str, Any]:
    rooms = [each for each in Administering.__mro__ if Calling in each.__bases__]
    return {
        name: call
        for room in rooms
        for name, call in vars(room).items()
        if inspect.isfunction(call) and not name.startswith("_")
    }


def takes_several(hint: Any) -> bool:
    origins = {get_origin(each) for each in (hint, *get_args(hint))}
    return not origins.isdisjoint((*_SEVERAL, collections.abc.Mapping))


def arguments_of(name: str) -> tuple[str, dict[str, Any]]:
    asked = Asked()
    EVERY_CALL[name](asked)  # type: ignore[arg-type]
    method, args, kwargs = asked.call
    return method, inspect.signature(all_calls()[method]).bind(None, *args, **kwargs).arguments


def of_several() -> Iterator[tuple[str, str]]:
    """Each call and argument that takes several things."""
    for method, call in all_calls().items():
        for argument, hint in get_type_hints(call).items():
            if argument != "return" and takes_several(hint):
                yield method, argument


def given_elsewhere(method: str, argument: str) -> dict[str, Any]:
    """What that call is given in one of `EVERY_CALL`, that argument among it."""
    for name in EVERY_CALL:
        named, arguments = arguments_of(name)
        if named == method and argument in arguments:
            return {key: each for key, each in arguments.items() if key != "self"}
    raise AssertionError(f"nobody gives {method} any {argument}")


def test_the_calls_that_take_several_things() -> None:
    assert len(all_calls()) == 51
    assert len(list(of_several())) == 38


@pytest.mark.parametrize(("method", "argument"), list(of_several()))
def test_a_text_is_no_list_of_things(method: str, argument: str) -> None:
    brokers = BrokersInMemory(empty)
    given = {**given_elsewhere(method, argument), argument: "q"}
    with pytest.raises((TypeError, ValueError), match=rf"^{argument}.* 'q'"):
        getattr(brokers.administering, method)(**given)
    assert brokers.administering.core.is_idle


@pytest.mark.parametrize(("method", "argument"), list(of_several()))
def test_nor_is_a_number_or_a_list_of_what_is_not_wanted(method: str, argument: str) -> None:
    brokers = BrokersInMemory(empty)
    for wrong in (5, [object()], {object(): object()}):
        given = {**given_elsewhere(method, argument), argument: wrong}
        with pytest.raises(TypeError, match=argument):
            getattr(brokers.administering, method)(**given)
    assert brokers.administering.core.is_idle


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda a: a.create_topics([NewTopic("t", num_partitions="3")]),  # type: ignore[arg-type]
            r"^new_topics\[0\]\.num_partitions: '3' is no int$",
        ),
        (
            lambda a: a.create_topics([NewTopic("t", configs={"retention.ms": 5000})]),  # type: ignore[dict-item]
            r"^new_topics\[0\]\.configs\['retention.ms'\]: 5000 is no str$",
        ),
        (
            lambda a: a.incremental_alter_configs({TOPIC: [AlterConfigOp("k", "v", "SET")]}),  # type: ignore[arg-type]
            r"\[0\]\.type: 'SET' is no OpType$",
        ),
        (
            lambda a: a.elect_leaders("preferred", None),
            r"^election_type: 'preferred' is no ElectionType$",
        ),
        (lambda a: a.list_offsets({PLACE: "latest"}), r"^specs\[.*\]: 'latest' is no int$"),
        (
            lambda a: a.create_partitions({"t": NewPartitions(4, 5)}),  # type: ignore[arg-type]
            r"^new_partitions\['t'\]\.assignments: 5 is no list of lists of int$",
        ),
        (lambda a: a.delete_topics([b"t"]), r"^names\[0\]: b't' is no str$"),
        (
            lambda a: a.alter_consumer_group_offsets("g", {PLACE: OffsetAndMetadata("5")}),  # type: ignore[arg-type]
            r"^offsets\[.*\]\.offset: '5' is no int$",
        ),
        (lambda a: a.list_topics(timeout_ms="5"), "^timeout_ms: '5' is no int$"),
        (lambda a: a.list_topics(list_internal="no"), "^list_internal: 'no' is no bool$"),
        (
            lambda a: a.alter_user_scram_credentials(["alice"]),
            r"^alterations\[0\]: 'alice' is no UserScramCredentialUpsertion or User",
        ),
    ],
)
def test_what_is_of_a_wrong_type_is_named(call: Any, says: str) -> None:
    brokers = BrokersInMemory(empty)
    with pytest.raises(TypeError, match=says):
        call(brokers.administering)
    assert brokers.administering.core.is_idle


def test_what_is_secret_is_in_no_refusal() -> None:
    administering = BrokersInMemory(empty).administering
    for call in (
        lambda: administering.renew_delegation_token("hush"),  # type: ignore[arg-type]
        lambda: administering.alter_user_scram_credentials(
            [UserScramCredentialUpsertion("alice", b"hush")]  # type: ignore[arg-type]
        ),
    ):
        with pytest.raises(TypeError) as refused:
            call()
        assert "hush" not in str(refused.value)


def test_names_may_come_one_by_one() -> None:
    brokers = BrokersInMemory(empty)
    begun = brokers.administering.delete_topics(name for name in ("t", "u"))
    assert begun.keys() == {"t", "u"}


def test_an_id_that_is_none_keeps_nothing_from_the_others() -> None:
    for method in ("delete_topics_by_id", "describe_topics_by_id"):
        brokers = BrokersInMemory(empty)
        good, bad = brokers.outcomes(lambda a, m=method: getattr(a, m)([ID, b"short"]))  # type: ignore[misc]
        assert not isinstance(good, UnencodableError)
        assert brokers.requests
        assert isinstance(bad, UnencodableError)
        assert str(bad) == "topic_ids: b'short' has 5 bytes, an id has 16"


def test_a_value_that_no_version_can_carry_is_no_versions_fault() -> None:
    brokers = BrokersInMemory(empty)
    [failed] = brokers.outcomes(lambda a: a.create_topics([NewTopic("t", 2**40, 1)]))
    assert isinstance(failed, UnencodableError)
    assert "num_partitions = 1099511627776" in str(failed)


@pytest.mark.parametrize("value", [1, Fraction(1, 2)], ids=str)
def test_a_quota_is_whatever_is_a_number(value: Any) -> None:
    brokers = BrokersInMemory(empty)
    entity = ClientQuotaEntity.of({"user": "alice"})
    brokers.outcomes(lambda a: a.alter_client_quotas({entity: [ClientQuotaOp("k", value)]}))
    assert brokers.requests
