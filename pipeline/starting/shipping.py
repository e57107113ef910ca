"""This package for Spark's workers, whose machines need not have it installed."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

# Spark hands on nothing that is called otherwise, not a wheel.
_NAME = "logquake.zip"


def ship(context: SparkContext, folder: Path) -> None:
    """Once: another session of the same context finds it there, and Spark refuses a second file of
    one name.
    """
    shipped = {PurePosixPath(path).name for path in context.listFiles}
    if _NAME not in shipped:
        context.addPyFile(str(archive_into(folder)))


def archive_into(folder: Path) -> Path:
    import logquake

    package = Path(logquake.__file__).parent
    archive = folder / _NAME
    if package.parent.is_file():  # imported from a wheel
        shutil.copy(package.parent, archive)
        return archive
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        # An installation to develop in has links to the packages.
        for parent, _, names in os.walk(package, followlinks=True):
            for name in sorted(names):
                path = Path(parent, name)
                if path.parent.name != "__pycache__":
                    made.write(path, path.relative_to(package.parent))
    return archive
