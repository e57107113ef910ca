"""The top-level folders have common names: nothing may rely on importing them as such."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.rooms import ROOMS, ROOT

MODULES = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]


@cache
def imported(module: Path) -> frozenset[str]:
    """The first part of every absolutely imported name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return frozenset(names)


def importing(modules: Iterable[Path], names: set[str]) -> dict[str, frozenset[str]]:
    return {
        str(path.relative_to(ROOT)): found for path in modules if (found := imported(path) & names)
    }


def test_no_module_imports_a_bare_room() -> None:
    assert not importing([*MODULES, *(ROOT / "tests").rglob("*.py")], set(ROOMS))
    assert len(MODULES) > 100


def test_no_room_imports_what_only_tests_it() -> None:
    assert not importing(MODULES, {"tests", "benchmarks"})
