"""Jobs as people run them: a lake is filled, replayed into topics, and topics are mirrored."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from logquake.client import Admin
from logquake.client.admin import (
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    NewPartitions,
    NewTopic,
)
from logquake.cluster.api import Cluster
from logquake.pipeline.__main__ import _parser
from logquake.pipeline.jobs.errors import line_of
from logquake.pipeline.jobs.lake.lake import Lake
from logquake.pipeline.jobs.lake.ledger import LakeError, Step, opened
from logquake.pipeline.jobs.mirror import start
from logquake.pipeline.jobs.target_topics import make_topics
from logquake.pipeline.options.values import OptionError
from logquake.wire.topic_partition import TopicPartition
from tests.compat.killed_lake import lake_settings
from tests.compat.sparks import SPARKS_PATIENCE_S, SPARKS_WARNINGS
from tests.every_broker import wait_until_all_tell
from tests.log_contents import Given, send_records
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

PARTITIONS = 3
RECORDS = 100  # of each partition
NOON_MS = 1_795_435_200_000

Run = Callable[..., None]


@pytest.fixture
def run(spark: Any) -> Run:
    """A job, in the session of the tests."""

    def run(job: str, *arguments: object) -> None:
        options = _parser().parse_args([job, *map(str, arguments)])
        assert options.run(spark, options) == 0

    return run


@pytest.fixture
def orders(cluster: Cluster, topic: Callable[..., str]) -> str:
    name = topic(partitions=PARTITIONS)
    for partition in range(PARTITIONS):
        records = [
            Given(
                None if number % 9 == 0 else b"%d-%d" % (partition, number),
                None if number % 7 == 0 else b"k%d" % (number % 5),
                (("h", b"%d" % number), ("none", None)) if number % 2 else (),
                NOON_MS + number * 60_000,
            )
            for number in range(RECORDS)
        ]
        send_records(cluster.bootstrap_servers, name, records, partition=partition)
    return name


def content(spark: Any, servers: str, topic: str) -> list[list[tuple[Any, ...]]]:
    """Of each partition what readers of committed records see, in order."""
    rows = (
        spark.read.format("logquake")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.isolation.level", "read_committed")
        .option("includeHeaders", "true")
        .option("subscribe", topic)
        .load()
        .orderBy("partition", "offset")
        .select("partition", "key", "value", "timestamp", "headers")
        .collect()
    )
    return [[tuple(row)[1:] for row in rows if row[0] == each] for each in range(PARTITIONS + 1)]


def test_what_a_lake_holds_is_replayed_as_it_was_once(
    spark: Any, cluster: Cluster, orders: str, run: Run, tmp_path: Path
) -> None:
    servers = cluster.bootstrap_servers
    run("lake", servers, tmp_path, "--topics", orders, "--report")
    for _ in range(2):
        run("replay", tmp_path, servers, "--topic-prefix", "again-", "--name", f"run-{orders}")
    assert content(spark, servers, f"again-{orders}") == content(spark, servers, orders)


def test_a_lake_that_was_killed_amid_a_merge_is_replayed_as_its_topic_was(
    spark: Any, cluster: Cluster, orders: str, run: Run, tmp_path: Path
) -> None:
    def die(step: Step) -> None:
        if step is Step.MOVED_ONE:
            raise KeyboardInterrupt

    servers = cluster.bootstrap_servers
    run("lake", servers, tmp_path, "--topics", orders)
    with opened(tmp_path, die) as ledger, pytest.raises(KeyboardInterrupt):
        Lake(spark, lake_settings(servers, orders), ledger).fill()
    run("replay", tmp_path, servers, "--topic-prefix", "whole-")
    assert content(spark, servers, f"whole-{orders}") == content(spark, servers, orders)


def test_some_rows_alone_are_replayed_and_without_transactions_they_are_doubled(
    spark: Any, cluster: Cluster, orders: str, run: Run, tmp_path: Path
) -> None:
    servers = cluster.bootstrap_servers
    run("lake", servers, tmp_path, "--topics", orders)
    some = ["--where", "hour = '13' and partition = 1", "--rate", "100000", "--at-least-once"]
    for _ in range(2):
        run("replay", tmp_path, servers, "--topic-prefix", "some-", *some)
    wanted = [row for row in content(spark, servers, orders)[1] if row[2].hour == 13]
    assert content(spark, servers, f"some-{orders}") == [[], 2 * wanted, [], []]
    assert wanted


def test_topics_are_mirrored_once_with_later_ones_and_later_partitions(
    spark: Any, cluster: Cluster, orders: str, run: Run, tmp_path: Path
) -> None:
    servers, bills = cluster.bootstrap_servers, f"{orders}-bills"
    mirror = ["mirror", servers, servers, tmp_path / "how-far", "--topic-prefix", "copy-"]
    mirror += ["--pattern", f"{orders}.*"]
    run(*mirror)
    assert content(spark, servers, f"copy-{orders}") == content(spark, servers, orders)
    with Admin({"bootstrap.servers": servers}) as admin:
        admin.create_partitions({orders: NewPartitions(PARTITIONS + 1)})[orders].result()
        kept = {"retention.ms": "-1", "max.message.bytes": "2000000", "min.insync.replicas": "1"}
        admin.create_topics([NewTopic(bills, 2, configs=kept)])[bills].result()
        wait_until_all_tell(servers, orders, partitions=PARTITIONS + 1)
        wait_until_all_tell(servers, bills, partitions=2)
        for topic, partition in ((orders, 2), (orders, PARTITIONS), (bills, 1)):
            send_records(servers, topic, [Given(None, b"new")], partition=partition)
        run(*mirror)
        settings = ConfigResource(ConfigResourceType.TOPIC, f"copy-{bills}")
        told = admin.describe_configs([settings])[settings].result()
    for topic in (orders, bills):
        assert content(spark, servers, f"copy-{topic}") == content(spark, servers, topic)
    own = {name for name, at in told.items() if at.source is ConfigSource.DYNAMIC_TOPIC_CONFIG}
    assert own == {"retention.ms", "max.message.bytes"}


def test_a_mirror_ends_where_a_topic_is_gone_unless_loss_is_allowed(
    spark: Any, cluster: Cluster, topic: Callable[..., str], run: Run, tmp_path: Path
) -> None:
    servers, kept = cluster.bootstrap_servers, topic(partitions=1)
    gone = f"{kept}-gone"
    mirror = ["mirror", servers, servers, tmp_path / "how-far", "--topic-prefix", "copy-"]
    mirror += ["--pattern", f"{kept}.*"]
    with Admin({"bootstrap.servers": servers}) as admin:
        admin.create_topics([NewTopic(gone, 1)])[gone].result()
        wait_until_all_tell(servers, gone, partitions=1)
        for each in (kept, gone):
            send_records(servers, each, [Given(b"old")], partition=0)
        run(*mirror)
        admin.delete_topics([gone])[gone].result()
    send_records(servers, kept, [Given(b"new")], partition=0)
    with pytest.raises(StreamingQueryException) as told:
        run(*mirror)
    lost = f"{gone}-0 is gone, with all from offset 1 on (--allow-data-loss goes on without)"
    assert line_of(told.value) == f"DataLossError: {lost}"
    run(*mirror, "--allow-data-loss")
    assert [row[1] for row in content(spark, servers, f"copy-{kept}")[0]] == [b"old", b"new"]


def test_full_epochs_of_a_mirror_follow_each_other_however_seldom_it_looks_again(
    spark: Any, cluster: Cluster, orders: str, tmp_path: Path
) -> None:
    servers = cluster.bootstrap_servers
    places = [TopicPartition(orders, partition) for partition in range(PARTITIONS)]
    mirror = ["mirror", servers, servers, str(tmp_path), "--topic-prefix", "copy-"]
    seldom = ["--topics", orders, "--every", "3600", "--batch-records", "150"]
    with Admin({"bootstrap.servers": servers}) as admin:
        make_topics(admin, {f"copy-{orders}": PARTITIONS})
    query = start(spark, _parser().parse_args([*mirror, *seldom]), places)
    try:
        rows = wait_for(
            "epochs, none with fewer rows than it may have",
            lambda: [told["numInputRows"] for told in query.recentProgress],
            lambda rows: sum(rows) == PARTITIONS * RECORDS,
            timeout_s=SPARKS_PATIENCE_S,
        )
    finally:
        query.stop()
    assert [count for count in rows if count] == [150, 150]
    assert content(spark, servers, f"copy-{orders}") == content(spark, servers, orders)


@pytest.mark.usefixtures("spark")  # before the cluster, whose end all that began after it awaits
def test_what_cannot_be_replayed_is_told(
    cluster: Cluster, orders: str, run: Run, tmp_path: Path
) -> None:
    servers = cluster.bootstrap_servers
    with pytest.raises(LakeError, match="is no lake"):
        run("replay", tmp_path, servers)
    slow = ["--rate", "1", "--topic-prefix", "slow-", "--command-config", tmp_path / "short"]
    (tmp_path / "short").write_text("transaction.timeout.ms=10000")
    run("lake", servers, tmp_path / "raw", "--topics", orders)
    with pytest.raises(OptionError, match=r"--rate 1: .* may last for 10"):
        run("replay", tmp_path / "raw", servers, *slow)
    run("lake", servers, tmp_path, "--topics", orders, "--json", "id BIGINT")
    with pytest.raises(LakeError, match="what was not raw cannot be replayed"):
        run("replay", tmp_path, servers)
    few = "has 3 partitions, and records of 4"
    with Admin({"bootstrap.servers": servers}) as admin, pytest.raises(OptionError, match=few):
        make_topics(admin, {orders: PARTITIONS + 1})


def test_what_is_asked_wrongly_is_told_in_one_line(tmp_path: Path) -> None:
    wrong = ["127.0.0.1:1", str(tmp_path), "--topics", "x", "--json", "id WHAT"]
    job = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "logquake.pipeline", "lake", *wrong],
        capture_output=True,
        text=True,
        timeout=SPARKS_PATIENCE_S,
        check=False,
    )
    line = job.stderr.strip().splitlines()[-1]
    assert (job.returncode, "no schema of Spark's" in line) == (2, True), job.stderr
