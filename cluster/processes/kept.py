"""What takes long to make is made once and kept, in the user's cache directory."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path


def cache_directory(environment: Mapping[str, str] | None = None) -> Path:
    variables = os.environ if environment is None else environment
    base = variables.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "logquake"


def fingerprint(files: Iterable[Path], *facts: str) -> str:
    """For a name: others for other facts, and for files of other names, sizes or times.

    Raises OSError for a file that is not there.
    """
    digest = hashlib.sha256("".join(facts).encode())
    for file in files:
        status = file.stat()
        digest.update(f"{file} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def keep(place: Path, make: Callable[[Path], Path]) -> None:
    """Have it made, unless it is there: ``make`` is handed a scratch folder, and says what of that
    folder is to be kept.

    Concurrent makers wait for one another, and what is half made never has the final name. Raises
    OSError, and what ``make`` raises.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():  # another maker may just have finished
            _make(place, make)


def _make(place: Path, make: Callable[[Path], Path]) -> None:
    scratch = place.parent / f"making-{place.stem}"  # one maker at a time has the lock
    shutil.rmtree(scratch, ignore_errors=True)  # of a maker that was killed
    try:
        scratch.mkdir()
        make(scratch).rename(place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
