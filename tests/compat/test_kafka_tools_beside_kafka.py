"""Kafka's command-line tools say the same of one broker of ours and of one of Kafka 3.9's.

Ids, times, addresses and folders are masked. docs/architecture/proof.md has the list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.kafka_tools import KafkaTools, Said, kafka_tools
from tests.compat.twins import Twin, twins_of
from tests.conftest import nothing_left_behind
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

PROPERTIES: Mapping[str, object] = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}
MASKS = (
    (re.compile(r"\tat .*\n"), ""),  # where in Kafka's own code an error came up
    (re.compile(r"(clientId=[\w-]+-)\d+"), r"\1N"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])"), "ID"),
    (re.compile(r"\b1[78]\d{11}\b"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ][\d:.,]+(Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"\b\d+\.\d+\b"), "N.N"),
    (re.compile(r"\b(\d+|N\.N) ?ms\b"), "N ms"),
)

Mask = Callable[[str], str]


class Beside:
    """``SERVER`` among the arguments stands for the address, ``DATA`` for the log directory."""

    def __init__(
        self,
        programs: KafkaPrograms,
        tools: KafkaTools,
        twins: tuple[Twin, Twin],
        folder: Path,
    ) -> None:
        self._programs = programs
        self._tools = tools
        self._twins = twins
        self._folder = folder

    def same(self, tool: str, *arguments: str, typed: str = "", mask: Mask | None = None) -> str:
        """What both say, on both streams."""
        ours, kafkas = self.both(tool, *arguments, typed=typed, mask=mask)
        assert ours == kafkas
        return ours.out + ours.err

    def becomes_same(
        self, tool: str, *arguments: str, telling: str = "", without: str | None = None
    ) -> str:
        """The same of what changes a moment after the answer to the change.

        Both have heard of the change when they tell of the one and no more of the other.
        """
        ours, _ = wait_for(
            f"{tool} saying the same",
            lambda: self.both(tool, *arguments),
            lambda said: (
                said[0] == said[1]
                and telling in said[0].out
                and (without is None or without not in said[0].out)
            ),
        )
        return ours.out + ours.err

    def both(
        self, tool: str, *arguments: str, typed: str = "", mask: Mask | None = None
    ) -> tuple[Said, Said]:
        ours, kafkas = (
            self._of(twin, name, tool, arguments, typed, mask)
            for twin, name in zip(self._twins, ("ours", "kafkas"), strict=True)
        )
        return ours, kafkas

    def _of(
        self,
        twin: Twin,
        name: str,
        tool: str,
        arguments: tuple[str, ...],
        typed: str,
        mask: Mask | None,
    ) -> Said:
        server, data = f"127.0.0.1:{twin.port}", str(self._folder / name)
        placed = [each.replace("SERVER", server).replace("DATA", data) for each in arguments]
        said = self._tools.run(tool, *placed, typed=typed)

        def masked(text: str) -> str:
            text = text.replace(server, "SERVER").replace(str(twin.port), "PORT")
            text = _masked(text.replace(data, "DATA"))
            return mask(text) if mask else text

        return Said(said.status, masked(said.out), masked(said.err))

    def same_reports(self, tool: str, *arguments: str, report: str) -> None:
        """Of a tool that never ends: all that it says until its first line with a report."""
        ours, kafkas = (self._reports(twin.port, tool, arguments, report) for twin in self._twins)
        assert ours == kafkas

    def _reports(self, port: int, tool: str, arguments: tuple[str, ...], report: str) -> list[str]:
        placed = [each.replace("SERVER", f"127.0.0.1:{port}") for each in arguments]
        name = f"{tool}-{port}"
        with self._programs.running(name, f"org.apache.kafka.tools.{tool}", *placed):
            said = wait_for(
                f"report of {tool}",
                (self._programs.folder / f"{name}.log").read_text,
                lambda text: any(report in line for line in text.splitlines(keepends=True)[:-1]),
            )
        lines = _masked(said).splitlines()
        return lines[: next(n for n, line in enumerate(lines) if report in line) + 1]


def _masked(text: str) -> str:
    for pattern, stands_for in MASKS:
        text = pattern.sub(stands_for, text)
    return text


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """For its ZooKeeper."""
    folder = tmp_path_factory.mktemp("cluster")
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=1) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def beside(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Beside]:
    folder = tmp_path_factory.mktemp("tools")
    with (
        kafka_tools(kafka_programs) as tools,
        twins_of(Twin, kafka_programs, cluster.zookeeper_connect, folder, PROPERTIES) as twins,
    ):
        yield Beside(kafka_programs, tools, twins, folder)


AT = ("--bootstrap-server", "SERVER")
# Of the oldest tools; they say that it is going, and both alike.
TYPED = "a:1\nb:2\na:3\nb:4\n"
KEYED = ("--property", "parse.key=true", "--property", "key.separator=:")


@pytest.fixture
def topic(beside: Beside, request: pytest.FixtureRequest) -> str:
    """Of two partitions, named after the test."""
    name = re.sub(r"\W|_", "-", request.node.name)
    said = beside.same("kafka-topics", *AT, "--create", "--topic", name, "--partitions", "2")
    assert said == f"Created topic {name}.\n"
    return name


@pytest.fixture
def filled(beside: Beside, topic: str) -> str:
    """Four records: two of each key."""
    beside.same("kafka-console-producer", *AT, "--topic", topic, *KEYED, typed=TYPED)
    return topic


def test_topics(beside: Beside, topic: str) -> None:
    at = ("kafka-topics", *AT)
    assert topic in beside.same(*at, "--list")
    beside.same(*at, "--describe", "--topic", topic)
    beside.same(*at, "--create", "--topic", topic)
    beside.same(*at, "--create", "--topic", f"{topic}-many", "--replication-factor", "2")
    beside.same(*at, "--create", "--topic", "not/allowed")
    beside.same(*at, "--create", "--topic", f"{topic}-set", "--config", "retention.ms=1000")
    beside.same(*at, "--describe", "--topic", f"{topic}-set")
    beside.same(*at, "--describe", "--topics-with-overrides")
    beside.same(*at, "--create", "--topic", f"{topic}-bad", "--config", "no.such=1")
    beside.same(*at, "--alter", "--topic", topic, "--partitions", "4")
    beside.same(*at, "--alter", "--topic", topic, "--partitions", "3")
    beside.same(*at, "--describe", "--unavailable-partitions")
    beside.same(*at, "--describe", "--topic", "nobody-made-it")
    beside.same(*at, "--delete", "--topic", topic)
    beside.same(*at, "--delete", "--topic", "nobody-made-it")


def test_console_producer_and_consumer(beside: Beside, filled: str) -> None:
    shown = [f"print.{what}=true" for what in ("key", "partition", "offset", "headers")]
    properties = [part for each in shown for part in ("--property", each)]
    consume = ("kafka-console-consumer", *AT, "--topic", filled)
    in_order = sorted_lines
    group = ("--group", f"{filled}-group")  # its own names are of any length
    read = beside.same(
        *consume, "--from-beginning", "--max-messages", "4", *group, *properties, mask=in_order
    )
    assert "Processed a total of 4 messages" in read
    one = (*consume, "--partition", "0", "--offset")  # which has both keys
    beside.same(*one, "earliest", "--max-messages", "4")
    beside.same(*one, "latest", "--timeout-ms", "2000")
    headers = ("--property", "parse.headers=true")
    said = beside.same(
        "kafka-console-producer", *AT, "--topic", filled, *headers, typed="h1:v1,h2:v2\tvalue\n"
    )
    assert said == ""


def sorted_lines(text: str) -> str:
    return "\n".join(sorted(line.strip() for line in text.splitlines()))


def test_consumer_groups(beside: Beside, filled: str) -> None:
    group = f"{filled}-group"
    beside.same(
        "kafka-console-consumer",
        *(*AT, "--topic", filled, "--group", group, "--from-beginning", "--max-messages", "4"),
        mask=sorted_lines,
    )
    groups = ("kafka-consumer-groups", *AT)
    one = ("--group", group)
    assert group in beside.same(*groups, "--list", mask=sorted_lines)
    beside.same(*groups, "--list", "--state", mask=sorted_lines)
    beside.same(*groups, "--list", "--type", mask=sorted_lines)
    beside.same(*groups, "--describe", *one)
    beside.same(*groups, "--describe", *one, "--state")
    beside.same(*groups, "--describe", *one, "--members")
    beside.same(*groups, "--describe", "--group", "nobody")
    beside.same(*groups, "--reset-offsets", *one, "--topic", filled, "--to-earliest", "--dry-run")
    beside.same(
        *groups, "--reset-offsets", *one, "--topic", filled, "--shift-by", "-1", "--execute"
    )
    beside.same(*groups, "--reset-offsets", *one, "--all-topics", "--to-current", "--export")
    beside.same(*groups, "--delete-offsets", *one, "--topic", filled)
    beside.same(*groups, "--delete", *one)
    beside.same(*groups, "--delete", *one)


@pytest.mark.parametrize(
    ("entity", "setting"),
    [
        (("brokers", "--entity-name", "1"), "log.cleaner.threads=2"),
        (("brokers", "--entity-default"), "log.retention.ms=86400000"),
        (("users", "--entity-name", "u"), "SCRAM-SHA-256=[password=secret]"),
        (("users", "--entity-name", "q"), "producer_byte_rate=1024"),
        (("clients", "--entity-default"), "request_percentage=50"),
        (("ips", "--entity-name", "127.0.0.2"), "connection_creation_rate=5"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value[:1]),
)
def test_configs(beside: Beside, entity: tuple[str, ...], setting: str) -> None:
    set_and_unset(beside, entity, setting)


def test_configs_of_a_topic(beside: Beside, topic: str) -> None:
    set_and_unset(beside, ("topics", "--entity-name", topic), "retention.ms=86400000")


def set_and_unset(beside: Beside, entity: tuple[str, ...], setting: str) -> None:
    configs = ("kafka-configs", *AT, "--entity-type", *entity)
    key = setting.partition("=")[0]
    beside.same(*configs, "--alter", "--add-config", setting)
    beside.becomes_same(*configs, "--describe", telling=key)
    beside.same(*configs, "--alter", "--delete-config", key)
    beside.becomes_same(*configs, "--describe", without=key)
    beside.same(*configs, "--alter", "--add-config", "no.such.key=1")


def test_acls(beside: Beside, topic: str) -> None:
    acls = ("kafka-acls", *AT)
    alice = ("--allow-principal", "User:alice")
    beside.same(*acls, "--add", *alice, "--operation", "Read", "--topic", topic)
    beside.same(*acls, "--add", *alice, "--producer", "--topic", topic, "--transactional-id", "t")
    beside.same(*acls, "--add", *alice, "--consumer", "--topic", topic, "--group", "g")
    beside.same(*acls, "--list", "--topic", topic, mask=sorted_lines)
    beside.same(*acls, "--list", "--principal", "User:alice", mask=sorted_lines)
    remove = ("--remove", "--force", "--topic", topic)
    beside.same(*acls, *remove)
    beside.becomes_same(*acls, "--list", "--topic", topic, without="User:alice")


def test_log_dirs(beside: Beside, filled: str) -> None:
    beside.same("kafka-log-dirs", *AT, "--describe", "--topic-list", filled)


def test_get_offsets(beside: Beside, filled: str) -> None:
    for time in ("-1", "-2", "earliest-local", "latest-tiered"):
        beside.same("kafka-get-offsets", *AT, "--topic", filled, "--time", time)
    beside.same("kafka-get-offsets", *AT, "--topic", "nobody-made-it")


def test_replica_verification(beside: Beside, filled: str) -> None:
    beside.same_reports(
        "ReplicaVerificationTool",
        *("--broker-list", "SERVER", "--topics-include", filled, "--report-interval-ms", "100"),
        report="max lag is",
    )


def test_delete_records(beside: Beside, filled: str, tmp_path: Path) -> None:
    wish = tmp_path / "delete.json"
    places = [{"topic": filled, "partition": p, "offset": o} for p, o in ((0, 1), (1, 99))]
    wish.write_text(json.dumps({"version": 1, "partitions": places}))
    beside.same("kafka-delete-records", *AT, "--offset-json-file", str(wish), mask=sorted_lines)
    beside.same("kafka-get-offsets", *AT, "--topic", filled, "--time", "-2")


def test_leader_election(beside: Beside, topic: str) -> None:
    elect = ("kafka-leader-election", *AT, "--election-type")
    beside.same(*elect, "preferred", "--topic", topic, "--partition", "0")
    beside.same(*elect, "unclean", "--topic", topic, "--partition", "1")
    beside.same(*elect, "preferred", "--topic", "nobody-made-it", "--partition", "0")


def test_transactions(beside: Beside) -> None:
    topic = "of-one-partition"  # which of several a producer chooses is chance
    beside.same("kafka-topics", *AT, "--create", "--topic", topic)
    transactions = ("kafka-transactions", *AT)
    perf = (
        "--record-size",
        "10",
        "--throughput",
        "-1",
        "--producer-props",
        "bootstrap.servers=SERVER",
    )
    beside.same(
        "kafka-producer-perf-test",
        *("--topic", topic, "--num-records", "10", *perf),
        *("--transactional-id", topic, "--transaction-duration-ms", "60000"),
        mask=rates,
    )
    beside.becomes_same(*transactions, "list", telling="CompleteCommit")
    beside.same(*transactions, "describe", "--transactional-id", topic, mask=digits)
    beside.same(*transactions, "describe", "--transactional-id", "nobody")
    beside.same(*transactions, "describe-producers", "--topic", topic, "--partition", "0")
    beside.same(*transactions, "find-hanging", "--broker-id", "1")


def rates(text: str) -> str:
    return re.sub(r"\d+(?= (records/sec|ms))", "N", text)


def test_broker_api_versions(beside: Beside) -> None:
    beside.same("kafka-broker-api-versions", *AT, mask=but_reassignments)


def but_reassignments(text: str) -> str:
    """They are not served yet."""
    return re.sub(r"\t(Alter|List)PartitionReassignments.*\n", "", text)


def test_verifiable_clients(beside: Beside, topic: str) -> None:
    clients = ("--bootstrap-server", "SERVER", "--topic", topic, "--max-messages", "20")
    beside.same("kafka-verifiable-producer", *clients, "--acks", "-1", mask=event_names)
    beside.same(
        "kafka-verifiable-consumer",
        *(*clients, "--group-id", f"{topic}-group", "--reset-policy", "earliest"),
        mask=event_names,
    )


def event_names(text: str) -> str:
    """Each once: how many records go at a time, and in which order, is nobody's promise."""
    return " ".join(sorted(set(re.findall(r'"(?:name":"\w+|sent":\d+|acked":\d+)', text))))


def test_performance(beside: Beside, topic: str) -> None:
    perf = (
        "--record-size",
        "100",
        "--throughput",
        "-1",
        "--producer-props",
        "bootstrap.servers=SERVER",
    )
    beside.same(
        "kafka-producer-perf-test", "--topic", topic, "--num-records", "500", *perf, mask=rates
    )
    beside.same(
        "kafka-consumer-perf-test",
        *(*AT, "--topic", topic, "--messages", "500", "--group", f"{topic}-group"),
        *("--timeout", str(round(PATIENCE_S * 1000))),
        mask=lambda text: re.sub(r"-?\d+(?=[,\n])", "N", text),
    )
    beside.same("kafka-e2e-latency", "SERVER", topic, "20", "all", "10", mask=digits)


def digits(text: str) -> str:
    """And columns as wide as it takes."""
    return re.sub(r"\d+ *", "N ", text)


def test_dump_log(beside: Beside, filled: str) -> None:
    log = f"DATA/{filled}-0/00000000000000000000"
    deep = ("--deep-iteration", "--print-data-log")
    crcs = lambda text: re.sub(r"(crc|position|size): ?\d+", r"\1 N", text)  # noqa: E731
    beside.same("kafka-dump-log", *deep, "--files", f"{log}.log", mask=crcs)
    beside.same("kafka-dump-log", "--files", f"{log}.index,{log}.timeindex", mask=crcs)


def test_features(beside: Beside) -> None:
    features = ("kafka-features", *AT)
    beside.same(*features, "describe")
    beside.same(*features, "upgrade", "--feature", "metadata.version=20")


def test_cluster(beside: Beside) -> None:
    beside.same("kafka-cluster", "cluster-id", *AT)
    beside.same("kafka-cluster", "unregister", *AT, "--id", "7")


def test_metadata_quorum(beside: Beside) -> None:
    beside.same("kafka-metadata-quorum", *AT, "describe", "--status")


def test_delegation_tokens(beside: Beside, tmp_path: Path) -> None:
    empty = tmp_path / "empty.properties"
    empty.touch()
    tokens = ("kafka-delegation-tokens", *AT, "--command-config", str(empty))
    beside.same(*tokens, "--create", "--max-life-time-period", "-1")
    beside.same(*tokens, "--describe")


def test_client_metrics(beside: Beside) -> None:
    beside.same("kafka-client-metrics", *AT, "--list")
    beside.same("kafka-client-metrics", *AT, "--describe")


def test_streams_application_reset(beside: Beside, filled: str) -> None:
    beside.same(
        "kafka-streams-application-reset",
        *(*AT, "--application-id", f"{filled}-app", "--input-topics", filled, "--force"),
        mask=sorted_lines,
    )
