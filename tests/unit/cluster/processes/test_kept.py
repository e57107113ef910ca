"""What is made once and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.cluster.processes.kept import cache_directory, fingerprint, keep


def written(text: str, scratch: Path) -> Path:
    made = scratch / "made"
    made.write_text(text)
    return made


def test_it_is_made_once(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "thing.bin"
    keep(place, lambda scratch: written("first", scratch))
    keep(place, lambda scratch: written("second", scratch))
    assert place.read_text() == "first"
    assert {path.name for path in place.parent.iterdir()} == {"thing.bin", "thing.lock"}


def test_who_fails_leaves_nothing_half_made(tmp_path: Path) -> None:
    place = tmp_path / "thing.bin"

    def fail(scratch: Path) -> Path:
        written("half", scratch)
        raise ValueError

    with pytest.raises(ValueError):
        keep(place, fail)
    assert {path.name for path in tmp_path.iterdir()} == {"thing.lock"}


def test_what_a_killed_maker_left_goes(tmp_path: Path) -> None:
    (tmp_path / "making-thing").mkdir()
    (tmp_path / "making-thing" / "half").write_text("")
    keep(tmp_path / "thing.bin", lambda scratch: written("whole", scratch))
    assert {path.name for path in tmp_path.iterdir()} == {"thing.bin", "thing.lock"}


def test_a_fingerprint_tells_files_and_facts_apart(tmp_path: Path) -> None:
    one, another = written("one", tmp_path), tmp_path / "another"
    another.write_text("other")
    told = {
        fingerprint([one]),
        fingerprint([one, another]),
        fingerprint([one], "fact"),
        fingerprint([one], "another fact"),
    }
    assert len(told) == 4
    assert fingerprint([one]) in told
    one.write_text("changed")
    assert fingerprint([one]) not in told


def test_the_users_own_cache_is_meant() -> None:
    assert cache_directory({"XDG_CACHE_HOME": "/c"}) == Path("/c/logquake")
    assert cache_directory({}) == Path.home() / ".cache" / "logquake"
