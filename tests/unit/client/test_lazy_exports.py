"""What programs import from a package is there, is listed, and is loaded when it is asked for."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import logquake.client
import logquake.client.admin
import logquake.client.aio
from logquake.client.errors import ClientError
from logquake.client.pending import Promise
from logquake.client.producer.runs import Rows
from tests.unit.client.admin.test_what_calls_are_given import all_calls

PACKAGES = ("client", "client.admin", "client.aio", "client.classic")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_listed_and_all_of_them_are_there(package: str) -> None:
    module = import_module(f"logquake.{package}")
    assert set(module.__all__) <= set(dir(module))
    starred: dict[str, Any] = {}
    exec(f"from logquake.{package} import *", starred)
    assert set(module.__all__) == starred.keys() - {"__builtins__"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_is_not_there_is_no_attribute(package: str) -> None:
    with pytest.raises(AttributeError, match=f"logquake.{package} has no Nobody"):
        _ = import_module(f"logquake.{package}").Nobody


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    look = (
        "import sys, logquake.client.admin as a; dir(a); print('logquake.wire.acls' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def types_of(hint: Any, seen: set[type]) -> Iterator[type]:
    """With those of their fields."""
    parts = hint if isinstance(hint, list) else get_args(hint)  # the former of a Callable
    if parts:
        for each in (get_origin(hint), *parts):
            yield from types_of(each, seen)
    elif isinstance(hint, type) and hint.__module__.startswith("logquake") and hint not in seen:
        seen.add(hint)
        yield hint
        if not issubclass(hint, Enum) and (
            dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")
        ):
            for each in get_type_hints(hint).values():
                yield from types_of(each, seen)


def test_whatever_a_call_of_the_admin_client_takes_or_gives_is_handed_out_there() -> None:
    hints = [hint for call in all_calls().values() for hint in get_type_hints(call).values()]
    seen: set[type] = {Promise, ClientError}
    wanted = {each for hint in hints for each in types_of(hint, seen)}
    assert len(wanted) > 40
    assert {each for each in wanted if each.__name__ not in dir(logquake.client.admin)} == set()
    assert all(getattr(logquake.client.admin, each.__name__) is each for each in wanted)


def test_all_records_that_are_committed_can_be_given_up_by_name() -> None:
    assert logquake.client.admin.HIGH_WATERMARK == -1


def said_by(calls: Iterable[Callable[..., Any]], seen: set[type]) -> Iterator[type]:
    """What they take and give, and what the calls of that take and give."""
    hints = [hint for call in calls for hint in get_type_hints(inspect.unwrap(call)).values()]
    for each in [each for hint in hints for each in types_of(hint, seen)]:
        yield each
        yield from said_by(calls_of(each), seen)


def calls_of(kind: type) -> Iterator[Callable[..., Any]]:
    for name, call in inspect.getmembers(kind, inspect.isfunction):
        if not (name.startswith("_") or issubclass(kind, tuple)):
            yield call


def handed_out_by(*packages: ModuleType) -> set[Any]:
    return {getattr(each, name) for each in packages for name in each.__all__}


def test_whatever_a_producer_or_a_consumer_takes_or_gives_is_handed_out() -> None:
    """So that a program can say in its own signatures what it is called with."""
    sync, aio = logquake.client, logquake.client.aio
    seen: set[type] = {Rows, ClientError}  # send_rows says where the former is
    kinds = (sync.Producer, sync.Consumer, aio.Producer, aio.Consumer)
    calls = [call for kind in kinds for call in (kind.__init__, *calls_of(kind))]
    wanted = set(said_by(calls, seen))
    assert {sync.RecordMetadata, sync.ConsumerRecord, sync.Future, aio.Future} <= wanted
    assert wanted - handed_out_by(sync, aio) == set()


OWN = ("Assignor", "DeserializerOfTopics", "Partitioner", "RebalanceListener", "Serializer")
INTERCEPTORS = ("ConsumerInterceptor", "ProducerInterceptor")


@pytest.mark.parametrize("name", [*OWN, *INTERCEPTORS])
def test_a_program_may_call_the_parameters_of_its_own_functions_what_it_likes(name: str) -> None:
    """A type checker holds what can be given by keyword to the names that it has here."""
    calls = list(calls_of(getattr(logquake.client, name)))
    assert calls
    for call in calls:
        _, *taken = inspect.signature(call).parameters.values()
        assert {each.kind for each in taken} <= {inspect.Parameter.POSITIONAL_ONLY}, call
