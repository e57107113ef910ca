"""Whatever a program asks an admin client about: the call refuses it, or its futures do, and the
client goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from logquake.client.admin.quotas import ClientQuotaEntity
from logquake.client.errors import CallFailedError, ClientError
from tests.unit.client.admin.brokers_in_memory import BrokersInMemory
from tests.unit.client.admin.every_call import EVERY_CALL, Call
from tests.unit.client.admin.test_every_call import empty

ODD = (None, 5, -(2**70), 2.5, "\ud800", "x" * 40_000, b"x", object())
TRIES = 12  # of each call


class Asked:
    """Stands in for an admin client, and keeps the one call that is made."""

    def __getattr__(self, name: str) -> Any:
        def keep(*args: Any, **kwargs: Any) -> None:
            self.call = name, args, kwargs

        return keep


def variants(value: Any) -> Iterator[Any]:
    """With one thing in it that is odd."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from (type(value)(*each) for each in _each_place(list(value)))
    elif isinstance(value, list | tuple):
        yield from (type(value)(each) for each in _each_place(list(value)))
    elif isinstance(value, Mapping):
        for items in _each_place(list(value.items())):
            yield dict(items)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            for odd in variants(getattr(value, field.name)):
                with suppress(Exception):  # the value refuses it itself
                    yield dataclasses.replace(value, **{field.name: odd})
    else:
        yield from ODD


def _each_place(values: list[Any]) -> Iterator[list[Any]]:
    for place, value in enumerate(values):
        for odd in variants(value):
            yield [*values[:place], odd, *values[place + 1 :]]


def odd_calls(name: str) -> list[Call]:
    asked = Asked()
    EVERY_CALL[name](asked)  # type: ignore[arg-type]
    method, args, kwargs = asked.call
    found = [(method, tuple(odd), kwargs) for odd in _each_place(list(args))]
    found += [(method, args, odd) for odd in variants(kwargs)]
    return [_making(*each) for each in Random(name).sample(found, min(TRIES, len(found)))]


def _making(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    return lambda a: getattr(a, method)(*args, **kwargs)


@pytest.mark.parametrize("name", EVERY_CALL)
def test_whatever_is_asked_about_the_client_goes_on(name: str) -> None:
    for call in odd_calls(name):
        brokers = BrokersInMemory(empty)
        try:
            outcomes = brokers.outcomes(call)
        except AssertionError:
            raise
        except Exception:  # noqa: BLE001 - at the call, as Python's errors are
            outcomes = []
        failed = [each for each in outcomes if isinstance(each, BaseException)]
        assert all(isinstance(each, ClientError) for each in failed)
        [told] = brokers.outcomes(lambda a: a.list_topics())
        assert told == {}


def test_a_call_that_fails_of_what_it_was_given_fails_alone() -> None:
    brokers = BrokersInMemory(empty)
    nobody = ClientQuotaEntity([5])  # type: ignore[list-item]
    failed = brokers.outcomes(lambda a: a.alter_client_quotas({nobody: []}))
    assert [type(each) for each in failed] == [CallFailedError]
