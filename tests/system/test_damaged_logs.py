"""Bits flip in old segments while a broker is down: it starts, says what is wrong, serves the rest.

A clean start scans nothing: the damage is met by who reads it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from logquake.client.errors import BrokerError
from logquake.cluster.api import Cluster
from logquake.cluster.state import Phase
from logquake.wire.errors import ErrorCode
from tests.log_contents import records_in
from tests.waiting import PATIENCE_S, wait_for

RECORDS = 40
LENGTH_AT = 8
PLAIN, COMPACTED, SOUND = TOPICS = ("plain", "compacted", "sound")
CLEANING = {"log.cleaner.backoff.ms": 100, "log.retention.check.interval.ms": 200}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster's data: two topics have a batch each, in an old segment, whose length is wrong."""
    root = tmp_path_factory.mktemp("damaged") / "cluster"
    with Cluster(brokers=1, config={"log.cleaner.enable": False}, data_dir=root) as kafka:
        for topic in TOPICS:
            fill(kafka, topic)
    for topic in (PLAIN, COMPACTED):
        segment = segments(root, topic)[1]
        content = bytearray(segment.read_bytes())
        content[LENGTH_AT] ^= 0xFF
        segment.write_bytes(content)
    return root


@pytest.fixture(scope="module")
def kafka(root: Path) -> Iterator[Cluster]:
    with Cluster(brokers=1, config=CLEANING, data_dir=root) as cluster:
        for topic in TOPICS:
            cluster.wait_topic(topic)
        yield cluster


def fill(kafka: Cluster, topic: str) -> None:
    """Batches of one record each, in several segments."""
    configs = {"segment.bytes": "5000", "min.cleanable.dirty.ratio": "0.01"}
    if topic != PLAIN:
        configs["cleanup.policy"] = "compact"
    kafka.create_topic(topic, partitions=1, replication_factor=1, config=configs)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "batch.num.messages": 1})
    for number in range(RECORDS):
        producer.produce(topic, bytes(500), key=b"%d" % (number % 4), partition=0)
    assert producer.flush(PATIENCE_S) == 0


def segments(root: Path, topic: str) -> list[Path]:
    return sorted((root / "broker-1" / "data" / f"{topic}-0").glob("*.log"))


def events(kafka: Cluster, what: str) -> list[tuple[str, str]]:
    text = (kafka.layout.events / "broker-1.jsonl").read_text()
    lines = text[: text.rfind("\n") + 1].splitlines()  # another may be on its way
    found = [event for event in map(json.loads, lines) if event["what"] == what]
    return [(event["subject"], event["why"]) for event in found]


def read(kafka: Cluster, start: int, end: int) -> list[int]:
    return [record.offset for record in records_in(kafka, PLAIN, start=start, end=end)]


def test_verify_finds_it(root: Path, logquake: Any) -> None:
    damaged: subprocess.CompletedProcess[str] = logquake.run(
        "log", "verify", str(root / "broker-1" / "data")
    )
    assert damaged.returncode == 1
    for topic in (PLAIN, COMPACTED):
        assert f"damage (torn): {segments(root, topic)[1]}: " in damaged.stdout


def test_what_lies_around_it_is_read_and_itself_refused(kafka: Cluster, root: Path) -> None:
    first, following = (int(path.stem) for path in segments(root, PLAIN)[1:3])
    assert read(kafka, 0, first) == list(range(first))
    with pytest.raises(BrokerError) as refused:
        read(kafka, first, first + 1)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
    assert read(kafka, following, RECORDS) == list(range(following, RECORDS))
    told = wait_for("event", lambda: events(kafka, "records-damaged"))
    assert [subject for subject, _ in told] == [f"{PLAIN}-0"]


def test_it_is_compacted_no_more_and_others_are(kafka: Cluster, root: Path) -> None:
    wait_for(
        "log that was cleaned and one that cannot be",
        lambda: [events(kafka, "log-cleaned"), events(kafka, "log-uncleanable")],
        all,
    )
    ((uncleanable, why),) = events(kafka, "log-uncleanable")
    assert uncleanable == f"{COMPACTED}-0"
    assert f"segment {int(segments(root, COMPACTED)[1].stem)} from byte 0 on" in why
    assert {subject for subject, _ in events(kafka, "log-cleaned")} == {f"{SOUND}-0"}


def test_the_broker_lives_on(kafka: Cluster) -> None:
    member = kafka.state().member("broker-1")
    assert member is not None
    assert member.phase is Phase.RUNNING
    assert events(kafka, "log-dir-failed") == []
