from __future__ import annotations

import pytest

from logquake.storage import file_names as names

HEX = "0123456789abcdef" * 2


def test_segment_files_are_named_by_twenty_digits() -> None:
    assert names.offset_file(512, ".log") == "00000000000000000512.log"
    found = ["00000000000000000512.log", "00000000000000000000.log", "x.log", "0.log", "1.index"]
    assert names.offsets_with(found, ".log") == [0, 512]


def test_only_a_logs_own_files_are_marked_ones() -> None:
    own = "00000000000000000512.timeindex.swap"
    others = ["x.swap", "512.log.swap", ".swap", "00000000000000000512.swap"]
    assert names.marked_files([own, *others], ".swap") == [own]


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("orders-0", ("orders", 0)),
        ("a-b.c-12", ("a-b.c", 12)),
        ("odd.name-delete-3", ("odd.name-delete", 3)),
        (f"orders-0.{HEX}-delete", None),
        ("orders", None),
        ("orders-", None),
        ("meta.properties", None),
    ],
)
def test_only_live_partitions_folders_are_parsed(name: str, parsed: tuple[str, int] | None) -> None:
    assert names.parse_partition_dir(name) == parsed


def test_a_deleted_folder_keeps_within_the_longest_file_name() -> None:
    assert names.deleted_dir("orders", 3, HEX) == f"orders-3.{HEX}-delete"
    long_name = names.deleted_dir("t" * 249, 12, HEX)
    assert len(long_name) == 255
    assert long_name.endswith(f"t-12.{HEX}-delete")
    assert names.is_deleted_dir(long_name)
    assert not names.is_deleted_dir("odd.name-delete-3")
