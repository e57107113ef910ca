"""A cluster that ends while its archive is made: what the maker leaves behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Its own process: the making is forked, by one that has no threads.
ENDED_WHILE_TIDYING = """
import sys, time
from pathlib import Path
from logquake.cluster.supervisor import archive_making

folder = Path(sys.argv[1])
archive, scratch = folder / "archive", folder / "scratch"

def make(program, archive):
    scratch.mkdir()
    archive.touch()
    time.sleep(1)
    scratch.rmdir()
    return True

archive_making.make_archive = make
making = archive_making.ArchiveMaking(None, archive, folder / "log")
making.begin()
while not archive.exists():
    time.sleep(0.01)
making.end()
"""


def test_an_end_does_not_come_between_the_archive_and_the_tidying(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", ENDED_WHILE_TIDYING, tmp_path], check=True, timeout=90)
    assert {path.name for path in tmp_path.iterdir()} == {"archive", "log"}
