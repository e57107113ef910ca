from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from logquake.cluster import layout as layout_module
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout, is_locked, read_json, take_lock, write_json


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "cluster")
    made.prepare(range(1, 3))
    return made


def test_removing_takes_what_was_made_and_the_folder(layout: Layout) -> None:
    layout.properties_of(1).write_text("broker.id=1")
    write_json(layout.state, {})
    layout.remove()
    assert not layout.root.exists()


def test_removing_leaves_what_is_somebody_elses(layout: Layout) -> None:
    (layout.root / "notes.txt").write_text("mine")
    layout.remove()
    assert [path.name for path in layout.root.iterdir()] == ["notes.txt"]


def test_who_has_ended_leaves_no_address(layout: Layout) -> None:
    write_json(layout.state, {})
    addresses = [layout.control_socket, layout.links_socket, layout.control_port]
    for address in addresses[1:]:
        address.touch()
    layout.remove_addresses()
    assert not any(address.exists() for address in addresses)
    assert layout.state.exists()


def test_a_second_supervisor_is_kept_out(layout: Layout) -> None:
    with take_lock(layout):
        assert is_locked(layout)
        with pytest.raises(ClusterError, match="already runs in"):
            take_lock(layout)
    assert not is_locked(layout)


def test_a_lock_on_a_file_that_was_removed_is_no_lock(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster before removes the file between our opening it and our locking it."""
    really_open = Path.open
    opened: list[object] = []

    def open_then_lose(path: Path, mode: str) -> object:
        file = really_open(path, mode)
        if not opened:
            path.unlink()
        opened.append(file)
        return file

    monkeypatch.setattr(Path, "open", open_then_lose)
    with take_lock(layout) as taken:
        assert len(opened) == 2
        assert os.path.samestat(os.fstat(taken.fileno()), layout.lock.stat())


def test_a_full_disk_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * 1024 * 1024))
    with pytest.raises(ClusterError, match="has 3 MiB free, at least 64 are needed: free some, or"):
        Layout(tmp_path / "cluster").prepare(range(1, 2))


def test_a_disk_without_room_for_a_folder_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ClusterError, match="has 0 MiB free"):
        Layout(tmp_path / "cluster").prepare(range(1, 2))


def test_only_the_home_of_all_clusters_is_made_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGQUAKE_HOME", str(tmp_path / "home"))
    Layout(layout_module.default_root("a")).prepare(range(1, 2))
    with pytest.raises(ClusterError, match="other does not exist: make it"):
        Layout(tmp_path / "other" / "a").prepare(range(1, 2))


def test_a_damaged_document_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    assert read_json(path) is None
    path.write_text("{")
    with pytest.raises(ClusterError, match="remove that file"):
        read_json(path)
