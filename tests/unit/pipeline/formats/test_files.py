"""Files are shared out to tasks."""

from __future__ import annotations

from logquake.pipeline.formats.files import packed

MIB = 1 << 20


def test_small_files_are_read_by_one_task_and_a_large_one_by_its_own() -> None:
    sizes = {"a": MIB, "b": 0, "c": 3 * MIB, "d": MIB, "e": 90 * MIB, "f": 0}
    assert packed(sizes, sizes.__getitem__) == [["a", "b", "c"], ["d"], ["e"], ["f"]]


def test_no_files_are_no_tasks() -> None:
    assert packed([], len) == []
