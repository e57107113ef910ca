"""The folders of tests hold what CONTRIBUTING.md says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
UNIT = TESTS / "unit"
ENTRY = re.compile(r"^\| `(tests/\w+)` \|", re.MULTILINE)
A_TEST = re.compile(r"^ *def test_|^Test\w+ = ", re.MULTILINE)


def folders_of_code(folder: Path) -> set[Path]:
    return {path.parent for path in folder.rglob("*.py")}


def test_the_table_of_tests_names_every_folder() -> None:
    there = {
        f"tests/{folder.name}"
        for folder in TESTS.iterdir()
        if any(path.is_file() and "__pycache__" not in path.parts for path in folder.rglob("*"))
    }
    assert sorted(ENTRY.findall((ROOT / "CONTRIBUTING.md").read_text())) == sorted(there)


def test_unit_tests_mirror_the_rooms() -> None:
    rooms = {folder.relative_to(UNIT) for folder in folders_of_code(UNIT)}
    assert not {str(room) for room in rooms if not (ROOT / room).is_dir()}
    assert len(rooms) > 15


def test_no_file_of_tests_is_without_one() -> None:
    """A move may lose what a file held, and nothing would fail."""
    modules = list(TESTS.rglob("test_*.py"))
    assert [str(path) for path in modules if not A_TEST.search(path.read_text())] == []
    assert len(modules) > 200


def test_unit_tests_open_no_socket_and_do_not_sleep() -> None:
    modules = list(UNIT.rglob("*.py"))
    guilty = [str(path) for path in modules if "socket" in path.read_text() and uses_socket(path)]
    sleepy = [str(path) for path in modules if "sleep(" in path.read_text() and sleeps(path)]
    assert guilty == sleepy == []


def uses_socket(path: Path) -> bool:
    return any(
        isinstance(node, ast.Import) and any(alias.name == "socket" for alias in node.names)
        for node in ast.walk(ast.parse(path.read_text()))
    )


def sleeps(path: Path) -> bool:
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) in ("sleep", "time.sleep") for call in calls)
