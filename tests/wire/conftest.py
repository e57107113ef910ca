"""Every message class by name, and strategies that make any message of a version."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from logquake.wire.schema import Message, Struct
from logquake.wire.schema.fields import (
    ArrayOf,
    Binary,
    Field,
    FieldType,
    RecordData,
    StructOf,
    Text,
)
from tests.wire.java_oracle import JavaOracle, java_oracle
from tests.wire.samples import INTEGER_BITS
from tests.wire.tables import MESSAGE_TYPES

Override = Callable[[str], "st.SearchStrategy[Any] | None"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes ``message_type`` runs once for every message."""
    if "message_type" in metafunc.fixturenames:
        metafunc.parametrize("message_type", MESSAGE_TYPES.values(), ids=MESSAGE_TYPES.keys())


@pytest.fixture(scope="session")
def message_types() -> dict[str, type[Message]]:
    return MESSAGE_TYPES


class MessageStrategies:
    """Strategies by class and version; ``override`` may choose values by a field's name."""

    def __init__(self, override: Override = lambda _: None) -> None:
        self._override = override
        self.of = cache(self._of)

    def _of(self, cls: type[Struct], version: int) -> st.SearchStrategy[Any]:
        present = {
            name: self._field(name, field, version)
            for name, field in cls.__schema__.fields.items()
            if version in field.versions
        }
        return st.builds(cls, **present)

    def _field(self, name: str, field: Field, version: int) -> st.SearchStrategy[Any]:
        chosen = self._override(name)
        values = self._value(field.type, version) if chosen is None else chosen
        return st.none() | values if version in field.nullable else values

    def _value(self, kind: FieldType, version: int) -> st.SearchStrategy[Any]:
        match kind:
            case Text():
                return st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
            case Binary() | RecordData():
                return st.binary(max_size=8)
            case ArrayOf(element=element):
                return st.lists(self._value(element, version), max_size=2)
            case StructOf(struct=struct):
                own: type[Struct] = struct
                return self.of(own, version)
        match kind.code:
            case "?":
                return st.booleans()
            case "d":
                return st.floats(allow_nan=False)
            case "H":
                return st.integers(0, 0xFFFF)
            case "16s":
                return st.binary(min_size=16, max_size=16)
        limit = 1 << (INTEGER_BITS[kind.code] - 1)
        return st.integers(-limit, limit - 1)


@pytest.fixture(scope="session")
def strategies_for() -> type[MessageStrategies]:
    return MessageStrategies


@pytest.fixture(scope="session")
def java() -> Iterator[JavaOracle]:
    libs = os.environ.get("LOGQUAKE_KAFKA_LIBS")
    if not libs:
        pytest.skip("LOGQUAKE_KAFKA_LIBS does not name a folder with Kafka's jars")
    program = shutil.which("java")
    if program is None:
        pytest.skip("no java on the path")
    with java_oracle(program, Path(libs)) as oracle:
        yield oracle
