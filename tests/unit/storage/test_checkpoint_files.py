from __future__ import annotations

import pytest

from logquake.storage.checkpoint_files import (
    DamagedCheckpointError,
    read_epochs,
    read_offsets,
    write_epochs,
    write_offsets,
)
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk


def test_offsets_are_written_as_kafka_does(disk: MemoryDisk) -> None:
    write_offsets(disk, "/f", {TopicPartition("orders", 1): 5, TopicPartition("a-b.c", 0): 7})
    assert disk.read("/f") == b"0\n2\na-b.c 0 7\norders 1 5\n"
    assert read_offsets(disk, "/f") == {("orders", 1): 5, ("a-b.c", 0): 7}


def test_epochs_are_written_as_kafka_does(disk: MemoryDisk) -> None:
    write_epochs(disk, "/f", [(0, 0), (3, 812)])
    assert disk.read("/f") == b"0\n2\n0 0\n3 812\n"
    assert read_epochs(disk, "/f") == [(0, 0), (3, 812)]


def test_no_file_and_an_empty_file_hold_nothing(disk: MemoryDisk) -> None:
    assert read_offsets(disk, "/f") == {}
    disk.replace("/f", b"")
    assert read_offsets(disk, "/f") == {}


@pytest.mark.parametrize(
    "content",
    [
        b"1\n0\n",
        b"0\n",
        b"0\n2\na 0 1\n",
        b"0\n1\na 0 1\nb 0 1\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 x\n",
        b"0\nx\n",
        b"\xff\xfe\n",
    ],
)
def test_a_damaged_file_is_told_apart(disk: MemoryDisk, content: bytes) -> None:
    disk.replace("/f", content)
    with pytest.raises(DamagedCheckpointError):
        read_offsets(disk, "/f")
