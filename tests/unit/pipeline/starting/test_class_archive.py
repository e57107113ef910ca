"""Which archive of classes Spark's driver is to use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from logquake.cluster.processes.java import Java
from logquake.pipeline.starting.class_archive import (
    archive_options,
    archive_path,
    forget_oldest,
    make_archive,
)

pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")
JAVA = Java(Path(sys.executable), 17)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "logquake"


def test_an_archive_is_used_once_it_is_there(cache: Path) -> None:
    assert archive_options(JAVA) == ""
    cache.mkdir()
    archive_path(JAVA).write_bytes(b"")
    assert f'"-XX:SharedArchiveFile={archive_path(JAVA)}"' in archive_options(JAVA)


def test_another_java_has_another_archive() -> None:
    assert archive_path(JAVA) != archive_path(Java(Path(__file__), 17))


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "logquake").write_text("")
    assert not make_archive(JAVA)


def test_those_made_last_are_kept(cache: Path) -> None:
    cache.mkdir()
    for age in range(5):
        archive = cache / f"spark-{age}.jsa"
        archive.write_bytes(b"")
        os.utime(archive, (100 - age, 100 - age))
    (cache / "zookeeper-1.jsa").write_bytes(b"")
    forget_oldest(cache)
    left = sorted(path.name for path in cache.iterdir())
    assert left == ["spark-0.jsa", "spark-1.jsa", "spark-2.jsa", "zookeeper-1.jsa"]
