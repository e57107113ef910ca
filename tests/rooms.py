"""The folders whose code is the package's: ``src/logquake`` has a link to each."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src", "logquake")
COMPILED = "__pycache__"
ROOMS = sorted(
    path.name for path in (ROOT / PACKAGE).iterdir() if path.is_dir() and path.name != COMPILED
)
