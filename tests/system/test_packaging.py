"""The wheel holds every package under ``logquake`` and nothing beside it, and works alone."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.rooms import PACKAGE, ROOMS, ROOT


def test_every_room_has_its_link() -> None:
    """What the copy above starts from: links, committed, that lead to the folders."""
    for room in ROOMS:
        link = ROOT / PACKAGE / room
        assert link.is_symlink()
        assert link.resolve() == ROOT / room


def test_the_wheel_holds_every_module_and_what_it_reads(wheel: Path) -> None:
    expected = {
        f"logquake/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".yaml", ".java") or path.name == "py.typed"
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
