"""What only the machine's disk can show: descriptors, and locks between processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from logquake.storage.disk.real_disk import RealDisk

_TRY_LOCK = """
import fcntl, sys
with open(sys.argv[1], "a+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("held")
    else:
        print("free")
"""


def test_another_process_is_locked_out_the_way_java_locks(tmp_path: Path) -> None:
    path = f"{tmp_path}/.lock"

    def seen_by_another_process() -> str:
        command = [sys.executable, "-c", _TRY_LOCK, path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    lock = RealDisk().lock(path)
    assert seen_by_another_process() == "held"
    lock.release()
    assert seen_by_another_process() == "free"


def test_a_descriptor_lives_as_long_as_the_last_reference_to_its_file(tmp_path: Path) -> None:
    file = RealDisk().open(f"{tmp_path}/f", create=True)
    descriptor = file.fileno()
    also_held = file
    del file
    os.fstat(descriptor)
    del also_held
    with pytest.raises(OSError):
        os.fstat(descriptor)
