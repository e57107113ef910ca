"""Kafka's own DumpLogSegments. LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def dump(files: list[Path], *options: str) -> str:
    """What it says of the files. Skips the test where there is no Kafka."""
    libs, java = os.environ.get("LOGQUAKE_KAFKA_LIBS"), shutil.which("java")
    if not libs or java is None:
        pytest.skip("no java, or LOGQUAKE_KAFKA_LIBS does not name a folder with Kafka's jars")
    command = [java, "-cp", f"{libs}/*", "kafka.tools.DumpLogSegments", *options, "--files"]
    command.append(",".join(map(str, files)))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
