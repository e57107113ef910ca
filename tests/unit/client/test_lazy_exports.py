"""What programs import from a package is there, is listed, and is loaded when it is asked for."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any, get_args, get_type_hints

import pytest

import logquake.client.admin
from logquake.client.errors import ClientError
from logquake.client.pending import Promise
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
    if get_args(hint):
        for each in get_args(hint):
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
