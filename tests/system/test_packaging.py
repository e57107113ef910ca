"""The wheel holds every package under ``logquake`` and nothing beside it, and works alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = sorted(link.name for link in (ROOT / "src" / "logquake").iterdir())
BUILD = """
import sys
from setuptools.build_meta import build_wheel
print(build_wheel(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built in a copy of the tree: setuptools leaves folders that would end in the next wheel."""
    tree, target = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    (tree / "src" / "logquake").mkdir(parents=True)
    for room in ROOMS:
        shutil.copytree(ROOT / room, tree / room, ignore=shutil.ignore_patterns("__pycache__"))
        (tree / "src" / "logquake" / room).symlink_to(Path("..", "..", room))
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(target)],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (made,) = target.glob("*.whl")
    return made


def test_every_room_has_its_link() -> None:
    """What the copy above starts from: links, committed, that lead to the folders."""
    for room in ROOMS:
        link = ROOT / "src" / "logquake" / room
        assert link.is_symlink()
        assert link.resolve() == ROOT / room


def test_the_wheel_holds_every_module_and_marker(wheel: Path) -> None:
    expected = {
        f"logquake/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix == ".py" or path.name == "py.typed"
    }
    assert expected <= set(zipfile.ZipFile(wheel).namelist())
    assert len(expected) > 100


def test_the_wheel_installs_nothing_but_logquake(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"logquake"}


def test_a_broker_and_the_command_line_import_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        "import logquake.node.process.broker_process as node, logquake.cluster.cli as cli; "
        "print(node.__file__, cli.__file__)"
    )
    imported = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path)},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert imported.stdout.count(str(tmp_path / "logquake")) == 2
