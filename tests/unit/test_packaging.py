"""The top-level folders have common names: nothing may rely on importing them as such."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = {link.name for link in (ROOT / "src" / "logquake").iterdir()}


def imported(tree: ast.AST) -> set[str]:
    """The first part of every absolutely imported name."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_no_room_imports_what_only_tests_it() -> None:
    modules = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert not [
        str(path.relative_to(ROOT))
        for path in modules
        if imported(ast.parse(path.read_text())) & {"tests", "benchmarks"}
    ]


def test_no_module_imports_a_bare_room() -> None:
    modules = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    modules += (ROOT / "tests").rglob("*.py")
    bare = {
        str(path.relative_to(ROOT)): found
        for path in modules
        if (found := imported(ast.parse(path.read_text())) & ROOMS)
    }
    assert not bare
    assert len(modules) > 100
