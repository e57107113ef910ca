"""Clients as they were before Kafka 0.11: message sets both ways, no ApiVersions.

librdkafka plays every age, by what it is told the broker's version is.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from tests.log_contents import send_batch
from tests.waiting import PATIENCE_S

KCAT = shutil.which("kcat") or shutil.which("kafkacat")

pytestmark = [
    pytest.mark.skipif(KCAT is None, reason="kcat is not installed"),
]

VERSIONS = ("0.8.2.0", "0.9.0.0", "0.10.0.0", "0.10.1.0")
CODECS = ("none", "gzip", "snappy", "lz4")
FIRST_WITH_TIMES = "0.10"

Kcat = Callable[..., str]


@pytest.fixture
def kcat(cluster: Cluster) -> Kcat:
    """Run it as a client of an age; the standard output."""

    def run(version: str, *arguments: str, stdin: str = "") -> str:
        age: list[str] = []
        if version != "now":
            age = ["-X", "api.version.request=false", "-X", f"broker.version.fallback={version}"]
        command = [str(KCAT), "-q", "-b", cluster.bootstrap_servers, *age, *arguments]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def read(kcat: Kcat, version: str, topic: str, offset: str = "beginning") -> list[dict[str, Any]]:
    lines = kcat(version, "-C", "-t", topic, "-p", "0", "-o", offset, "-e", "-J").splitlines()
    return [json.loads(line) for line in lines]


def write(kcat: Kcat, version: str, topic: str, codec: str, keys: range) -> None:
    lines = "".join(f"k{index}:v{index}\n" for index in keys) + "gone:\n"
    to = ("-P", "-t", topic, "-p", "0", "-z", codec, "-K", ":", "-Z", "-X", "acks=all")
    kcat(version, *to, stdin=lines)


def check(records: list[dict[str, Any]], keys: range) -> None:
    assert [record["key"] for record in records] == [f"k{index}" for index in keys] + ["gone"]
    expected: list[str | None] = [f"v{index}" for index in keys]
    assert [record["payload"] for record in records] == [*expected, None]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("codec", CODECS)
def test_an_old_client_reads_what_it_wrote_and_so_does_a_new_one(
    kcat: Kcat, topic: Callable[..., str], version: str, codec: str
) -> None:
    name = topic()
    write(kcat, version, name, codec, range(200))
    for reader in (version, "now"):
        records = read(kcat, reader, name)
        check(records, range(200))
        assert [record["offset"] for record in records] == list(range(201))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("codec", CODECS)
def test_an_old_client_reads_what_a_new_one_wrote(
    kcat: Kcat, topic: Callable[..., str], version: str, codec: str
) -> None:
    name = topic()
    write(kcat, "now", name, codec, range(500))
    records = read(kcat, version, name)
    check(records, range(500))
    knows_times = version.startswith(FIRST_WITH_TIMES)
    assert all(("ts" in record) == knows_times for record in records)
    later = read(kcat, version, name, offset="77")
    assert [record["offset"] for record in later] == list(range(77, 501))


def test_small_fetches_come_to_the_end(kcat: Kcat, topic: Callable[..., str]) -> None:
    """Each answer is cut where the consumer said, in the midst of what was converted."""
    name = topic()
    write(kcat, "now", name, "none", range(3000))
    lines = kcat(
        *("0.9.0.0", "-C", "-t", name, "-p", "0", "-o", "beginning", "-e", "-J"),
        *("-X", "fetch.message.max.bytes=200000"),
    ).splitlines()
    assert [json.loads(line)["offset"] for line in lines] == list(range(3001))


@pytest.mark.usefixtures("kcat")
def test_an_old_client_is_told_that_it_cannot_read_zstd(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic()
    # Not by librdkafka, which leaves a batch as it is that compression would not shrink.
    values = (b"v%d" % index for index in range(10))
    send_batch(cluster, name, *values, compression_type="zstd")
    command = [
        *(str(KCAT), "-b", cluster.bootstrap_servers, "-C", "-t", name, "-p", "0", "-e", "-c", "1"),
        *("-o", "beginning", "-X", "api.version.request=false"),
        *("-X", "broker.version.fallback=0.9.0.0"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert "v0" not in done.stdout
    assert "UNSUPPORTED_COMPRESSION_TYPE" in done.stderr or "Unsupported" in done.stderr
