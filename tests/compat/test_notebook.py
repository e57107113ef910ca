"""The notebook of the manual does what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.compat.sparks import SPARKS_PATIENCE_S
from tests.everything import only_with_everything
from tests.notebooks import SVG

NOTEBOOK = Path("docs/broken_cluster.ipynb")


@pytest.mark.slow
@only_with_everything
def test_the_notebook_shows_what_is_missing_what_is_there_twice_and_where(tmp_path: Path) -> None:
    """By itself: its Spark and its cluster are nobody else's."""
    pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
    mine = tmp_path / NOTEBOOK.name
    mine.write_text(NOTEBOOK.read_text())
    ended = subprocess.run(
        [sys.executable, "-m", "tests.notebooks", str(mine), "--write"],
        capture_output=True,
        text=True,
        timeout=SPARKS_PATIENCE_S,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 0, ended.stderr
    lost, on_disk, twice = tables(mine)
    # What was sent before them is in them too, where a follower was stopped before it asked again.
    assert lost in (["50", "1001", "1050"], ["51", "1000", "1050"])
    assert on_disk[1:] == lost[:1], "one broker alone has them"
    assert twice == ["200", "800", "999"]
    assert ['class="offline"' in picture for picture in pictures(mine)] == [True, False, False]


def tables(notebook: Path) -> list[list[str]]:
    """The last row of each that is printed."""
    texts = (output["text"] for output in outputs(notebook) if "text" in output)
    return [[cell.strip() for cell in lines[-3].strip().strip("|").split("|")] for lines in texts]


def pictures(notebook: Path) -> list[str]:
    data = (output["data"] for output in outputs(notebook) if "data" in output)
    return ["".join(one[SVG]) for one in data if SVG in one]


def outputs(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text())["cells"]
    return [output for cell in cells for output in cell.get("outputs", ())]
