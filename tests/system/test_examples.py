"""examples/orders, a stranger's project, with the wheel and nothing else of this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from tests.conftest import nothing_left_behind
from tests.waiting import wait_for

ORDERS = Path(__file__).parents[2] / "examples" / "orders"
RUN_S = 540
FIRST_OUTCOME = re.compile(r"test_orders\.py [.FE]")

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


class Project:
    """A run of the project's tests, with no word of where logquake is developed."""

    def __init__(self, python: Path, folder: Path, *options: str) -> None:
        self._printed = folder / "printed"
        base = str(folder / "base")
        command = [str(python), "-u", "-m", "pytest", "-p", "no:randomly", "--basetemp", base]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["TMPDIR"] = tempfile.gettempdir()
        project = shutil.copytree(ORDERS, folder / "orders")
        with self._printed.open("w") as printed:
            self._process = subprocess.Popen(
                [*command, *options],
                cwd=project,
                env=environment,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def wait_for_its_first_test(self) -> None:
        wait_for("end of a first test", lambda: FIRST_OUTCOME.search(self._printed.read_text()))

    def said(self) -> str:
        """In the end."""
        self._process.wait(RUN_S)
        return self._printed.read_text()


@pytest.fixture(scope="module")
def said(python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Of the shop as it is, and as it is mended; both at once, since failovers are waited for.

    But for the first test of the shop as it is, which has a second to get through.
    """
    folder = tmp_path_factory.mktemp("shops")
    with (
        nothing_left_behind(folder / "temporary"),
        Project(python, folder / "hasty") as as_it_is,
    ):
        as_it_is.wait_for_its_first_test()
        with Project(python, folder / "careful", "--relay=careful") as mended:
            return as_it_is.said(), mended.said()


def test_each_way_to_break_kafka_finds_the_bug(said: tuple[str, str]) -> None:
    as_it_is, _ = said
    assert "3 failed, 1 passed" in as_it_is, as_it_is
    for fault in ("kill leader:", "cut clients leader:", "slow_disk leader:"):
        assert f"  {fault}" in as_it_is, as_it_is
    assert as_it_is.count("- assert [") == 3, as_it_is  # orders that are missing, nothing else


def test_nothing_is_found_once_it_is_mended(said: tuple[str, str]) -> None:
    _, mended = said
    assert "4 passed" in mended, mended


def test_the_fixtures_are_the_wheels(python: Path) -> None:
    program = "import logquake.chaos.plugin.hooks as hooks; print(hooks.__file__)"
    found = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    assert Path(found.stdout).is_relative_to(python.parent.parent)
