"""Kafka's own tools find nothing strange about a cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

import pytest

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.every_broker import wait_until_all_tell
from tests.waiting import wait_for

pytestmark = pytest.mark.maven

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
RECORDS = 2000


def end_offsets(kafka: KafkaPrograms, servers: str, topic: str, time: str = "-1") -> list[int]:
    lines = kafka.run(
        OFFSETS, "--bootstrap-server", servers, "--topic", topic, "--time", time
    ).splitlines()
    return [int(line.split(":")[2]) for line in lines]


def produce(kafka: KafkaPrograms, servers: str, topic: str, *settings: str) -> str:
    return kafka.run(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", topic, "--num-records", str(RECORDS), "--record-size", "200"),
        *("--throughput", "-1", "--producer-props", f"bootstrap.servers={servers}", *settings),
    )


def test_topic_command_creates_lists_and_deletes(
    kafka_programs: KafkaPrograms, cluster: Cluster
) -> None:
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    shape = ("--partitions", "3", "--replication-factor", "3")

    def listed() -> list[str]:
        """By any broker: the controller answers when it has told one."""
        return kafka_programs.run(TOPICS, *at, "--list").split()

    made = kafka_programs.run(TOPICS, *at, "--create", "--topic", "tooled", *shape)
    assert made == "Created topic tooled.\n"
    wait_for("topic that is listed", listed, lambda names: "tooled" in names)
    kafka_programs.run(TOPICS, *at, "--delete", "--topic", "tooled")
    wait_for("topic that is gone", listed, lambda names: "tooled" not in names)


def test_topic_command_adds_partitions(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name, servers = topic(partitions=2), cluster.bootstrap_servers
    at = ("--bootstrap-server", servers, "--topic", name)
    kafka_programs.run(TOPICS, *at, "--alter", "--partitions", "5")
    wait_until_all_tell(servers, name, 5)
    assert end_offsets(kafka_programs, servers, name) == [0] * 5


def test_leader_election_command_elects(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=1, replicas=3)
    preferred = cluster.leader(name, 0)
    with cluster.kill(preferred) as fault:
        cluster.wait_leader_change(name, 0, since=fault)
    cluster.wait_isr(name, 0, size=3)
    said = kafka_programs.run(
        "org.apache.kafka.tools.LeaderElectionCommand",
        *("--bootstrap-server", cluster.bootstrap_servers),
        *("--election-type", "preferred", "--topic", name, "--partition", "0"),
    )
    assert f"leader election (PREFERRED) for partitions {name}-0" in said
    assert cluster.leader(name, 0) == preferred


def test_topic_command_describes(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=2)
    described = kafka_programs.run(
        TOPICS, "--bootstrap-server", cluster.bootstrap_servers, "--describe", "--topic", name
    )
    assert described.count("Leader: ") == 2


@pytest.mark.parametrize(
    ("entity", "key", "value"),
    [
        (("--entity-type", "brokers", "--entity-name", "1"), "log.cleaner.threads", "2"),
        (("--entity-type", "brokers", "--entity-default"), "log.retention.ms", "86400000"),
        (("--entity-type", "topics"), "retention.ms", "86400000"),
    ],
)
def test_configs_command_describes_and_alters(
    kafka_programs: KafkaPrograms,
    cluster: Cluster,
    topic: Callable[..., str],
    entity: tuple[str, ...],
    key: str,
    value: str,
) -> None:
    whose = (*entity, "--entity-name", topic()) if len(entity) == 2 else entity
    configs = partial(
        kafka_programs.run, CONFIGS, "--bootstrap-server", cluster.bootstrap_servers, *whose
    )
    setting = f"{key}={value}"
    said = configs("--alter", "--add-config", setting)
    assert said.startswith("Completed updating ")
    wait_for("what was set", partial(configs, "--describe"), lambda text: setting in text)
    configs("--alter", "--delete-config", key)
    wait_for("nothing set", partial(configs, "--describe"), lambda text: setting not in text)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_the_java_producer_writes_with_every_codec(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str], codec: str
) -> None:
    name, servers = topic(partitions=2), cluster.bootstrap_servers
    said = produce(kafka_programs, servers, name, "acks=all", f"compression.type={codec}")
    assert f"{RECORDS} records sent" in said
    assert sum(end_offsets(kafka_programs, servers, name)) == RECORDS


def test_verifiable_producer_has_every_message_acked(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=3)
    said = kafka_programs.run(
        "org.apache.kafka.tools.VerifiableProducer",
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", name),
        *("--max-messages", "500", "--acks", "-1"),
    )
    events = [json.loads(line) for line in said.splitlines()]
    assert {event["name"] for event in events} == {
        "startup_complete",
        "producer_send_success",
        "shutdown_complete",
        "tool_data",
    }
    (summary,) = [event for event in events if event["name"] == "tool_data"]
    assert (summary["sent"], summary["acked"]) == (500, 500)


def test_get_offset_shell_knows_every_special_time(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name, servers = topic(), cluster.bootstrap_servers
    produce(kafka_programs, servers, name)
    for time, expected in (("earliest", 0), ("latest", RECORDS), ("earliest-local", 0)):
        assert end_offsets(kafka_programs, servers, name, time) == [expected]
    (newest,) = end_offsets(kafka_programs, servers, name, "max-timestamp")
    assert 0 <= newest < RECORDS


def test_broker_api_versions_command_can_use_all_that_is_served(
    kafka_programs: KafkaPrograms, cluster: Cluster
) -> None:
    said = kafka_programs.run(
        "kafka.admin.BrokerApiVersionsCommand", "--bootstrap-server", cluster.bootstrap_servers
    )
    assert len(re.findall(r"\(id: [123] rack: null\) -> \(", said)) == 3
    produce_lines = re.findall(r"Produce\(0\): 0 to 11 \[usable: 11\]", said)
    assert len(produce_lines) == 3
    assert "UNKNOWN" not in said


def test_dump_log_segments_finds_every_replica_sound(
    kafka_programs: KafkaPrograms, cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic()
    produce(kafka_programs, cluster.bootstrap_servers, name, "acks=all", "compression.type=gzip")
    cluster.wait_isr(name, 0, size=3)
    dumps = set()
    for broker_id in (1, 2, 3):
        (log,) = (cluster.layout.data_of(broker_id) / f"{name}-0").glob("*.log")
        said = kafka_programs.run(
            "kafka.tools.DumpLogSegments", "--deep-iteration", "--files", str(log)
        )
        assert "isvalid: false" not in said
        assert len(re.findall(r"^\| offset: ", said, re.MULTILINE)) == RECORDS
        dumps.add(said.split("\n", 1)[1])  # the first line names the file
    assert len(dumps) == 1, "replicas differ"
