from __future__ import annotations

import pytest

from logquake.storage.dirs.meta_properties import MetaProperties, claim, read_meta_properties
from logquake.storage.errors import LogDirError
from tests.doubles.memory_disk import MemoryDisk

OWNER = MetaProperties(1, "nuPQdOmPTNSLpn_S3CpZjQ")


def test_an_unclaimed_directory_is_claimed_in_kafkas_format(disk: MemoryDisk) -> None:
    claim(disk, "", OWNER, now_ms=1_795_253_699_591)
    assert disk.read("/meta.properties").decode().splitlines() == [
        "#",
        "#Sat Nov 21 09:34:59 UTC 2026",
        "broker.id=1",
        "version=0",
        "cluster.id=nuPQdOmPTNSLpn_S3CpZjQ",
    ]
    assert read_meta_properties(disk, "") == OWNER
    claim(disk, "", OWNER, now_ms=0)


def test_another_brokers_directory_is_refused_in_one_clear_line(disk: MemoryDisk) -> None:
    claim(disk, "", OWNER, now_ms=0)
    with pytest.raises(LogDirError, match=r"belongs to broker 1, broker\.id is 2: [^\n]*$"):
        claim(disk, "", MetaProperties(2, OWNER.cluster_id), now_ms=0)


def test_another_clusters_directory_is_refused_in_one_clear_line(disk: MemoryDisk) -> None:
    claim(disk, "", OWNER, now_ms=0)
    with pytest.raises(LogDirError, match=r"belongs to cluster nuPQ\S+, this is cluster other: "):
        claim(disk, "", MetaProperties(1, "other"), now_ms=0)


@pytest.mark.parametrize("content", [b"version=1\nbroker.id=1\n", b"version=0\nbroker.id=one\n"])
def test_what_a_zookeeper_broker_cannot_read_is_refused(disk: MemoryDisk, content: bytes) -> None:
    disk.replace("/meta.properties", content)
    with pytest.raises(LogDirError, match=r"^/meta\.properties has "):
        claim(disk, "", OWNER, now_ms=0)
