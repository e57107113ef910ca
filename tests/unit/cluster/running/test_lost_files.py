"""Which files go, of those that a broker has."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.lost_files import cut_file, lose_files, lose_segment
from logquake.wire.topic_partition import TopicPartition

ORDERS = TopicPartition("orders", 0)
SIZES = {
    "orders-0/00000000000000000000.log": 10,
    "orders-0/00000000000000000000.index": 0,
    "orders-0/00000000000000000007.log": 20,
    "orders-0/00000000000000000007.index": 8,
    "orders-0/00000000000000000007.snapshot": 8,
    "orders-0/00000000000000000009.log": 0,
    "orders-0/leader-epoch-checkpoint": 6,
    "other-orders-0/00000000000000000000.log": 10,
    "recovery-point-offset-checkpoint": 4,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, size in SIZES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(size))
    return tmp_path


def sizes(data: Path) -> dict[str, int]:
    files = (path for path in data.rglob("*") if path.is_file())
    return {str(path.relative_to(data)): path.stat().st_size for path in files}


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("orders-0/*.index", [name for name in SIZES if not name.endswith(".index")]),
        ("*-checkpoint", [name for name in SIZES if not name.endswith("-checkpoint")]),
        ("orders-0/*", [name for name in SIZES if not name.startswith("orders-0/")]),
    ],
)
def test_files_whose_paths_match_are_lost(data: Path, pattern: str, kept: list[str]) -> None:
    lost = lose_files([data], pattern)
    assert sizes(data) == {name: SIZES[name] for name in kept}
    assert len(lost) == len(SIZES) - len(kept)


def test_a_segment_goes_with_all_that_is_named_as_it_is(data: Path) -> None:
    lose_segment([data], ORDERS, 8)
    assert sizes(data) == {name: size for name, size in SIZES.items() if "7." not in name}


@pytest.mark.parametrize(
    ("pattern", "to_bytes", "name", "kept"),
    [
        ("orders-0/*.log", None, "orders-0/00000000000000000007.log", 10),
        ("orders-0/*.log", 3, "orders-0/00000000000000000007.log", 3),
        ("*.index", 0, "orders-0/00000000000000000007.index", 0),
        ("recovery-point-offset-checkpoint", 1, "recovery-point-offset-checkpoint", 1),
    ],
)
def test_the_last_file_that_has_more_is_cut_short(
    data: Path, pattern: str, to_bytes: int | None, name: str, kept: int
) -> None:
    assert cut_file([data], pattern, to_bytes) == (data / name, kept)
    assert sizes(data) == SIZES | {name: kept}


def test_what_is_not_there_cannot_be_lost(data: Path) -> None:
    with pytest.raises(ClusterError, match=r"no file matches \*\.txnindex in /"):
        lose_files([data], "*.txnindex")
    with pytest.raises(ClusterError, match=r"no file that matches \*\.log has more than 20 bytes"):
        cut_file([data], "*.log", 20)
    with pytest.raises(ClusterError, match="no segment of orders-1 has offset 0"):
        lose_segment([data], TopicPartition("orders", 1), 0)
    assert sizes(data) == SIZES
