"""examples/orders, a stranger's project, with the wheel and nothing else of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import nothing_left_behind

ORDERS = Path(__file__).parents[2] / "examples" / "orders"
RUN_S = 540

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * RUN_S)]


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a fresh environment with the wheel, before the packages that are installed here."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    options = ("--quiet", "--no-index", "--no-deps")
    subprocess.run([str(python), "-m", "pip", "install", *options, str(wheel)], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "what-is-installed-here.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def run(python: Path, folder: Path, *options: str) -> str:
    """What pytest said of the project, with no word of where logquake is developed."""
    base = str(folder / "base")
    command = [str(python), "-m", "pytest", "-p", "no:randomly", "--basetemp", base, *options]
    with nothing_left_behind(folder / "temporary"):
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        ended = subprocess.run(
            command,
            cwd=shutil.copytree(ORDERS, folder / "orders"),
            env={**environment, "TMPDIR": str(folder / "temporary")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=RUN_S,
            check=False,
        )
    return ended.stdout


def test_each_way_to_break_kafka_finds_the_bug(python: Path, tmp_path: Path) -> None:
    said = run(python, tmp_path)
    assert "3 failed, 1 passed" in said, said
    for fault in ("kill leader:", "cut clients leader:", "slow_disk leader:"):
        assert f"  {fault}" in said, said
    assert said.count("- assert [") == 3, said  # orders that are missing, nothing else


def test_nothing_is_found_once_it_is_mended(python: Path, tmp_path: Path) -> None:
    said = run(python, tmp_path, "--relay=careful")
    assert "4 passed" in said, said


def test_the_fixtures_are_the_wheels(python: Path) -> None:
    program = "import logquake.chaos.plugin.hooks as hooks; print(hooks.__file__)"
    found = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert Path(found.stdout).is_relative_to(python.parent.parent)
