"""ZooKeeper's class archive: made once, used, and never a reason to fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.zookeeper.class_archive import (
    MAKING_TIMEOUT_S,
    archive_flags,
    archive_path,
    make_archive,
)
from logquake.cluster.zookeeper.program import Program, find_program
from logquake.cluster.zookeeper.server import spawn_server, wait_until_serving
from tests.waiting import wait_for

pytestmark = pytest.mark.usefixtures("leaves_nothing")


@pytest.fixture
def program() -> Program:
    return find_program()


@pytest.fixture
def archive(program: Program, tmp_path: Path) -> Path:
    return archive_path(program, {"XDG_CACHE_HOME": str(tmp_path)})


def test_concurrent_makers_make_one_archive_that_a_server_uses(
    program: Program, archive: Path, tmp_path: Path
) -> None:
    assert archive_flags(archive) == ()
    makers = [threading.Thread(target=make_archive, args=(program, archive)) for _ in range(2)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert in_cache(archive) == {archive.name, archive.with_suffix(".lock").name}
    with hold_port_for_java() as held:
        flags = (*archive_flags(archive), "-Xshare:on", "-Xlog:class+load")
        directory = tmp_path / "zookeeper"
        server = spawn_server(program, directory, LOOPBACK, port_of(held), *flags)
        try:
            wait_until_serving(server, directory, LOOPBACK, port_of(held))
        finally:
            server.kill()
            server.wait()
    loaded = (directory / "zookeeper.log").read_text()
    assert "org.apache.zookeeper.server.ZooKeeperServer source: shared objects file" in loaded


def test_a_cache_that_cannot_be_written_is_no_error(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    archive = archive_path(program, {"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert not make_archive(program, archive)
    assert archive_flags(archive) == ()


@pytest.mark.timeout(2 * MAKING_TIMEOUT_S)  # the making gives way to all other tests
def test_a_first_start_makes_the_archive_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive = archive_path(find_program())
    with Cluster(brokers=1):
        wait_for("archive", archive.exists, timeout_s=MAKING_TIMEOUT_S)
    assert in_cache(archive) == {archive.name, archive.with_suffix(".lock").name}


def test_a_cluster_that_ends_takes_the_making_of_the_archive_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive = archive_path(find_program())
    with Cluster(brokers=1):
        # One that was done before anybody looked has ended as well.
        wait_for("maker", lambda: archive.exists() or list(archive.parent.glob("making-*")))
    assert in_cache(archive) <= {archive.name, archive.with_suffix(".lock").name}


def in_cache(archive: Path) -> set[str]:
    return {path.name for path in archive.parent.iterdir()}
