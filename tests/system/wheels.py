"""The wheel, built as a release is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.rooms import COMPILED, PACKAGE, ROOMS, ROOT

BUILD = """
import sys
from setuptools.build_meta import build_wheel
print(build_wheel(sys.argv[1]))
"""


def build(tree: Path, target: Path) -> Path:
    """In a copy of the repository: setuptools leaves folders that would end in the next wheel."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    (tree / PACKAGE).mkdir(parents=True)
    shutil.copy(ROOT / PACKAGE / "__init__.py", tree / PACKAGE)
    for room in ROOMS:
        shutil.copytree(ROOT / room, tree / room, ignore=shutil.ignore_patterns(COMPILED))
        (tree / PACKAGE / room).symlink_to(Path("..", "..", room))
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
