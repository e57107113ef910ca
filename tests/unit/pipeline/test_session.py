"""The Java that Spark is given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from logquake.cluster.processes.java import Java
from logquake.pipeline.session import _java_home


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A home whose java prints its arguments, one a line."""
    java = tmp_path / "runtime" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    return tmp_path / "runtime"


def home_for_spark(runtime: Path, tmp_path: Path) -> Path:
    return _java_home(Java(runtime / "bin" / "java", 25), tmp_path / "files")


@pytest.mark.parametrize(
    "release", [None, 'JAVA_VERSION="17"\n', 'MODULES="java.base jdk.incubator.vector"\n']
)
def test_a_whole_runtime_is_used_as_it_is(
    runtime: Path, tmp_path: Path, release: str | None
) -> None:
    if release is not None:
        (runtime / "release").write_text(release)
    assert home_for_spark(runtime, tmp_path) == runtime


def test_a_trimmed_runtime_is_not_asked_for_what_it_lacks(runtime: Path, tmp_path: Path) -> None:
    (runtime / "release").write_text('MODULES="java.base java.sql"\n')
    home = home_for_spark(runtime, tmp_path)
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-Dx=a b", "", "Main"]
    printed = subprocess.run(
        [home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split("\n")[:-1] == ["-Xmx1g", "-Dx=a b", "", "Main"]
