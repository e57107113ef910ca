"""Of a log directory that changes hands: its records, and that its files are sound."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.compat.varied_records import COMPACTED, TRANSACTIONAL, VariedRecords

LOGQUAKE = str(Path(sys.executable).parent / "logquake")


def read_all(servers: str, topics: list[str]) -> dict[str, Any]:
    client = VariedRecords(servers)
    found: dict[str, Any] = {topic: client.read(topic) for topic in topics if topic != COMPACTED}
    if COMPACTED in topics:
        found[COMPACTED] = client.read_latest(COMPACTED)
    if TRANSACTIONAL in topics:
        found["committed"] = client.read(TRANSACTIONAL, isolation="read_committed")
    return found


def verify(directory: Path) -> None:
    said = subprocess.run(
        [LOGQUAKE, "log", "verify", str(directory)], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr


def grown(servers: str, topics: list[str], written: dict[str, Any]) -> dict[str, Any]:
    """What is there once more is appended to what was written."""
    assert read_all(servers, topics) == written
    for topic in topics:
        VariedRecords(servers).append(topic)
    return read_all(servers, topics)
