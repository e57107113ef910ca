"""The package on its way to Spark's workers."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from logquake.pipeline.starting.shipping import ship


class Context:
    """As Spark's, it refuses a second file of one name."""

    def __init__(self) -> None:
        self.listFiles: list[str] = []

    def addPyFile(self, path: str) -> None:  # noqa: N802  # Spark's
        at = f"spark://here:1/files/{Path(path).name}"
        assert at not in self.listFiles, "was already registered with a different path"
        self.listFiles.append(at)
        assert "logquake/pipeline/session.py" in zipfile.ZipFile(path).namelist()


def test_sessions_of_one_context_ship_the_package_once(tmp_path: Path) -> None:
    context: Any = Context()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        ship(context, tmp_path / name)
    assert context.listFiles == ["spark://here:1/files/logquake.zip"]
    assert not [*(tmp_path / "second").iterdir()]
