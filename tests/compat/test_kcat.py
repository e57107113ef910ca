"""kcat, the command line of librdkafka, in the release that distributions carry."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable

import pytest

from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S

KCAT = shutil.which("kcat") or shutil.which("kafkacat")

pytestmark = [
    pytest.mark.skipif(KCAT is None, reason="kcat is not installed"),
]


@pytest.fixture
def kcat(cluster: Cluster) -> Callable[..., str]:
    """Run it; the standard output. It must have nothing to say on the other."""

    def run(*arguments: str, stdin: str = "") -> str:
        command = [str(KCAT), "-q", "-b", cluster.bootstrap_servers, *arguments]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def test_lists_brokers_and_topics(kcat: Callable[..., str], topic: Callable[..., str]) -> None:
    name = topic(partitions=2)
    listed = json.loads(kcat("-L", "-J"))
    assert sorted(broker["id"] for broker in listed["brokers"]) == [1, 2, 3]
    assert listed["controllerid"] in (1, 2, 3)
    (found,) = [one for one in listed["topics"] if one["topic"] == name]
    for partition in found["partitions"]:
        assert partition["leader"] in (1, 2, 3)
        assert sorted(one["id"] for one in partition["isrs"]) == [1, 2, 3]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_reads_what_it_wrote(
    kcat: Callable[..., str], topic: Callable[..., str], codec: str
) -> None:
    name = topic()
    lines = "".join(f"k{index}:v{index}\n" for index in range(100)) + "gone:\n"
    produce = ("-P", "-t", name, "-p", "0", "-z", codec, "-K", ":", "-Z", "-H", "a=1")
    kcat(*produce, "-X", "acks=all", stdin=lines)
    read = kcat("-C", "-t", name, "-p", "0", "-o", "beginning", "-e", "-J").splitlines()
    records = [json.loads(line) for line in read]
    assert [record["offset"] for record in records] == list(range(101))
    assert records[7]["key"] == "k7"
    assert records[7]["payload"] == "v7"
    assert records[7]["headers"] == ["a", "1"]
    assert (records[100]["key"], records[100]["payload"]) == ("gone", None)


def test_finds_offsets_by_time(kcat: Callable[..., str], topic: Callable[..., str]) -> None:
    name = topic()
    kcat("-P", "-t", name, "-p", "0", stdin="x\ny\n")
    assert kcat("-Q", "-t", f"{name}:0:-1").split() == [name, "[0]", "offset", "2"]
    assert kcat("-Q", "-t", f"{name}:0:1").split() == [name, "[0]", "offset", "0"]


def test_says_so_when_a_partition_is_not_there(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic()
    command = [str(KCAT), "-b", cluster.bootstrap_servers, "-C", "-t", name, "-p", "9", "-e"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    assert "partition 9 does not exist" in done.stderr
