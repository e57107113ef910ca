"""What is asked about configurations, of a real broker and of ours, one after the other.

The answers of Kafka 3.9.1 are kept in tests/wire/vectors/configs-3.9.1.jsonl;
test_configs_beside_kafka.py asks a Kafka again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from logquake.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
)
from logquake.wire.schema import Message

VECTORS = Path(__file__).parents[1] / "wire" / "vectors" / "configs-3.9.1.jsonl"
TOPIC, TOPIC_CONFIG = "configured", {"retention.ms": "1234"}
PLACE = {"broker.id", "node.id", "listeners", "log.dirs", "zookeeper.connect"}
"""Where a broker stands is its own."""
ALIKE = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}
"""What both are set to besides."""

OF_TOPIC, OF_BROKER, OF_LOGGER, OF_METRICS, OF_GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT, NONSENSE = 0, 1, 2, 3, 9
ALL_BROKERS = ""
OWN = "the broker"  # stands for its id

Change = tuple[str, int, str | None]


@dataclass(frozen=True)
class Case:
    name: str
    version: int
    request: Message


def cases(broker_id: int) -> Iterator[Case]:
    """In this order, of a broker that has the topic of that name."""
    for case in _cases():
        assert isinstance(
            case.request,
            DescribeConfigsRequest | AlterConfigsRequest | IncrementalAlterConfigsRequest,
        )
        for resource in case.request.resources:
            if resource.resource_name == OWN:
                resource.resource_name = str(broker_id)
        yield case


def _cases() -> Iterator[Case]:
    yield from _described_versions()
    yield from _described_oddly()
    yield from _refused_for_topics()
    yield from _refused_for_brokers()
    yield from _refused_for_loggers()
    yield from _refused_by_shape()
    yield from _changed()


def _described_versions() -> Iterator[Case]:
    some = ["log.dirs", "log.retention.ms", "num.io.threads", "ssl.key.password", "no.such.key"]
    for version in range(5):
        yield _describe(f"a topic, version {version}", (OF_TOPIC, TOPIC, None), version)
        yield _describe(f"some keys, version {version}", (OF_BROKER, OWN, some), version)
    yield _describe("a broker", (OF_BROKER, OWN, None))
    yield _describe("no keys named", (OF_TOPIC, TOPIC, []))
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=OF_TOPIC, resource_name=TOPIC, configuration_keys=["retention.ms"]
            )
        ]
    )
    yield Case("without synonyms", 4, request)


def _described_oddly() -> Iterator[Case]:
    for kind, name in (
        (OF_TOPIC, "nowhere"),
        (OF_TOPIC, "no spaces"),
        (OF_TOPIC, ""),
        (OF_BROKER, "x"),
        (OF_BROKER, "77"),
        (OF_BROKER, ALL_BROKERS),
        (OF_LOGGER, ""),
        (OF_LOGGER, "x"),
        (OF_LOGGER, "77"),
        (OF_METRICS, "m"),
        (OF_METRICS, ""),
        (OF_GROUP, "g"),
        (0, OWN),
        (99, OWN),
    ):
        yield _describe(f"{kind} {name!r}", (kind, name, None))
    good = DescribeConfigsResource(
        resource_type=OF_TOPIC, resource_name=TOPIC, configuration_keys=["segment.ms"]
    )
    bad = DescribeConfigsResource(resource_type=0, resource_name="x", configuration_keys=None)
    yield Case("one is of no type", 4, DescribeConfigsRequest(resources=[good, bad]))


def _refused_for_topics() -> Iterator[Case]:
    for changes in (
        [("no.such.key", SET, "1")],
        [("retention.ms", SET, " x")],
        [("retention.ms", SET, "-5")],
        [("retention.ms", SET, "9223372036854775808")],
        [("min.cleanable.dirty.ratio", SET, "1.5")],
        [("preallocate", SET, "yes")],
        [("compression.gzip.level", SET, "0")],
        [("compression.type", SET, "brotli")],
        [("message.format.version", SET, "9.9")],
        [("leader.replication.throttled.replicas", SET, "0:1,x")],
        [("cleanup.policy", SET, "shred")],
        [("max.message.bytes", SET, "x"), ("segment.bytes", SET, "x")],
        [("retention.ms", APPEND, "5")],
        [("no.such.key", APPEND, "5")],
        [("cleanup.policy", APPEND, "compact")],
        [("cleanup.policy", APPEND, "shred")],
        [("cleanup.policy", SUBTRACT, "delete")],
        [("retention.ms", NONSENSE, "5")],
        [("min.compaction.lag.ms", SET, "5"), ("max.compaction.lag.ms", SET, "4")],
        [("remote.storage.enable", SET, "true")],
        [("remote.log.copy.disable", SET, "true")],
        [("retention.ms", DELETE, None), ("no.such.key", DELETE, None)],
    ):
        yield _check(OF_TOPIC, TOPIC, changes)
    for name in ("", "nowhere", "no spaces"):
        yield _check(OF_TOPIC, name, [("retention.ms", SET, "5")])
        yield _check(OF_TOPIC, name, [("retention.ms", APPEND, "5")])


def _refused_for_brokers() -> Iterator[Case]:
    for name, changes in (
        (OWN, [("log.dirs", SET, "x")]),
        (OWN, [("log.dirs", SET, "x"), ("broker.rack", SET, "x"), ("node.id", SET, "1")]),
        (
            OWN,
            [
                (each, SET, "1")
                for each in (
                    *("log.dirs", "broker.rack", "node.id"),
                    *("num.partitions", "zookeeper.connect"),
                )
            ],
        ),
        (OWN, [("log.roll.hours", SET, "1")]),
        (OWN, [("ssl.keystore.location", SET, "x")]),
        (OWN, [("ssl.keystore.location", SET, "x"), ("ssl.keystore.password", SET, "x")]),
        (ALL_BROKERS, [("listener.name.plaintext.ssl.keystore.password", SET, "x")]),
        (ALL_BROKERS, [("principal.builder.class", SET, "x")]),
        (ALL_BROKERS, [("listeners", SET, "PLAINTEXT://:9")]),
        (ALL_BROKERS, [("listener.name.plaintext.max.connections", SET, "9")]),
        (OWN, [("listener.name.plaintext.max.connections", SET, "0")]),
        (OWN, [("max.connections", SET, "0")]),
        (OWN, [("max.connections", SET, "-1")]),
        (OWN, [("max.connection.creation.rate", SET, "0")]),
        (OWN, [("log.cleaner.threads", SET, "x")]),
        (
            OWN,
            [
                ("log.cleaner.threads", SET, "x"),
                ("background.threads", SET, "y"),
                ("message.max.bytes", SET, "-4"),
            ],
        ),
        (OWN, [("log.cleaner.threads", SET, "0")]),
        (OWN, [("log.cleaner.threads", SET, "10")]),
        (OWN, [("num.io.threads", SET, "100")]),
        (OWN, [("num.io.threads", SET, "3")]),
        (OWN, [("num.network.threads", SET, "100")]),
        (ALL_BROKERS, [("num.replica.fetchers", SET, "3")]),
        (ALL_BROKERS, [("background.threads", SET, "20")]),
        (OWN, [("log.cleaner.dedupe.buffer.size", SET, "10")]),
        (OWN, [("log.cleaner.io.max.bytes.per.second", SET, "x")]),
        (OWN, [("log.retention.ms", SET, "0")]),
        (OWN, [("log.roll.ms", SET, "0")]),
        (OWN, [("log.roll.jitter.ms", SET, "-1")]),
        (OWN, [("log.local.retention.ms", SET, "700000000")]),
        (OWN, [("log.local.retention.ms", SET, "-1")]),
        (OWN, [("max.connections.per.ip", SET, "0")]),
        (OWN, [("max.connections.per.ip.overrides", SET, "127.0.0.1:3,b")]),
        (OWN, [("max.connections.per.ip.overrides", SET, "127.0.0.1:x")]),
        (OWN, [("metric.reporters", SET, "no.such.Class")]),
        (OWN, [("metric.reporters", APPEND, "")]),
        (OWN, [("my.own.key", SET, "x")]),
        (OWN, [("my.own.key", APPEND, "x")]),
        (OWN, [("log.cleaner.threads", APPEND, "2")]),
        (OWN, [("log.retention.ms", NONSENSE, "5")]),
        (OWN, [("leader.replication.throttled.rate", SET, "-1")]),
        (ALL_BROKERS, [("follower.replication.throttled.rate", SET, "x")]),
        (OWN, [("producer.id.expiration.ms", SET, "0")]),
        (OWN, [("remote.log.manager.copy.max.bytes.per.second", SET, "0")]),
        (OWN, [("log.message.timestamp.type", SET, "Never")]),
        ("x", []),
        ("77", []),
    ):
        yield _check(OF_BROKER, name, changes)


def _refused_for_loggers() -> Iterator[Case]:
    for name, changes in (
        (OWN, [("root", SET, "INFO")]),
        (OWN, [("root", SET, "LOUD")]),
        (OWN, [("no.such.Logger", SET, "INFO")]),
        (OWN, [("no.such.Logger", DELETE, None)]),
        (OWN, [("root", DELETE, None)]),
        (OWN, [("root", APPEND, "INFO")]),
        (OWN, [("root", SUBTRACT, "INFO")]),
        (OWN, [("root", NONSENSE, "INFO")]),
        ("", [("root", SET, "INFO")]),
        ("77", [("root", SET, "INFO")]),
    ):
        yield _check(OF_LOGGER, name, changes)


def _refused_by_shape() -> Iterator[Case]:
    yield _check(OF_TOPIC, TOPIC, [("retention.ms", SET, "1"), ("retention.ms", SET, "2")])
    yield _check(OF_TOPIC, TOPIC, [("retention.ms", SET, None), ("segment.ms", APPEND, None)])
    for kind in (0, OF_METRICS, OF_GROUP, 99):
        yield _check(kind, "x", [("retention.ms", SET, "1")])
        yield _replace("checked", kind, "x", [("retention.ms", "1")], only_check=True)
    yield _replace("checked", OF_LOGGER, OWN, [("root", "INFO")], only_check=True)
    yield _replace("checked", OF_BROKER, OWN, [("log.dirs", "x")], only_check=True)
    yield _replace("checked", OF_TOPIC, TOPIC, [("a", "1"), ("a", "1")], only_check=True)
    yield _replace("checked", OF_TOPIC, TOPIC, [("a", None)], only_check=True)
    twice = [_altered(OF_TOPIC, TOPIC, [("retention.ms", SET, "1")]) for _ in range(2)]
    other = _altered(OF_TOPIC, "nowhere", [])
    resources = [*twice, other]
    yield Case("one twice", 1, IncrementalAlterConfigsRequest(resources=resources))


def _changed() -> Iterator[Case]:
    """Each change is followed by a look at what is set, at what it changes."""
    yield _alter(
        OF_TOPIC, TOPIC, [("cleanup.policy", SET, "compact"), ("segment.ms", SET, " 77 ")], 0
    )
    yield _describe("the topic", (OF_TOPIC, TOPIC, None))
    yield _alter(OF_TOPIC, TOPIC, [("cleanup.policy", APPEND, "delete,compact")])
    yield _alter(OF_TOPIC, TOPIC, [("cleanup.policy", SUBTRACT, "compact")])
    yield _alter(OF_TOPIC, TOPIC, [("retention.ms", DELETE, None)])
    yield _describe("the topic again", (OF_TOPIC, TOPIC, None))
    for version in range(3):
        replaced = [("flush.ms", str(version)), ("min.insync.replicas", "2")]
        yield _replace(f"version {version}", OF_TOPIC, TOPIC, replaced, version=version)
    yield _describe("the topic replaced", (OF_TOPIC, TOPIC, None))
    yield from _changed_broker()


def _changed_broker() -> Iterator[Case]:
    keys = [
        *("log.retention.ms", "log.retention.hours", "message.max.bytes", "my.own.key"),
        *("max.connections", "listener.name.plaintext.max.connections", "log.cleaner.threads"),
        *("leader.replication.throttled.rate", "background.threads"),
        "log.cleaner.io.max.bytes.per.second",
    ]
    yield _alter(
        OF_BROKER,
        ALL_BROKERS,
        [
            ("log.retention.ms", SET, "86400000"),
            ("message.max.bytes", SET, "2000000"),
            ("leader.replication.throttled.rate", SET, "1000"),
            ("log.cleaner.io.max.bytes.per.second", SET, "10000000"),
        ],
    )
    yield _describe("the default", (OF_BROKER, ALL_BROKERS, None))
    yield _describe("the broker by default", (OF_BROKER, OWN, keys))
    yield _describe("topics by default", (OF_TOPIC, TOPIC, None))
    yield _alter(
        OF_BROKER,
        OWN,
        [
            ("message.max.bytes", SET, "3000000"),
            ("max.connections", SET, "1000"),
            ("listener.name.plaintext.max.connections", SET, "900"),
            ("my.own.key", SET, "x"),
        ],
    )
    yield _describe("the broker's own", (OF_BROKER, OWN, keys))
    yield _describe("topics by the broker's own", (OF_TOPIC, TOPIC, None))
    yield _check(OF_BROKER, OWN, [("max.connections", DELETE, None)])
    yield _alter(OF_BROKER, OWN, [("listener.name.plaintext.ssl.keystore.password", SET, "secret")])
    yield _replace("own", OF_BROKER, OWN, [("log.cleaner.threads", "2")], version=1)
    yield _describe("the broker's own replaced", (OF_BROKER, OWN, keys))
    yield _replace("default", OF_BROKER, ALL_BROKERS, [], version=1)
    yield _replace("own", OF_BROKER, OWN, [], version=1)
    yield _describe("the broker as it was", (OF_BROKER, OWN, keys))


def _describe(what: str, resource: tuple[int, str, list[str] | None], version: int = 4) -> Case:
    kind, name, keys = resource
    asked = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    request = DescribeConfigsRequest(resources=[asked], include_synonyms=version > 0)
    return Case(f"describe {what}", version, request)


def _check(kind: int, name: str, changes: Sequence[Change]) -> Case:
    return _incremental("check", kind, name, changes, 1, only_check=True)


def _alter(kind: int, name: str, changes: Sequence[Change], version: int = 1) -> Case:
    return _incremental("alter", kind, name, changes, version, only_check=False)


def _incremental(
    verb: str, kind: int, name: str, changes: Sequence[Change], version: int, *, only_check: bool
) -> Case:
    request = IncrementalAlterConfigsRequest(
        resources=[_altered(kind, name, changes)], validate_only=only_check
    )
    return Case(f"{verb} {kind} {name!r}: {list(changes)}", version, request)


def _altered(kind: int, name: str, changes: Sequence[Change]) -> IncrementalAlterConfigsResource:
    return IncrementalAlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            IncrementalAlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def _replace(
    what: str,
    kind: int,
    name: str,
    values: Sequence[tuple[str, str | None]],
    *,
    version: int = 2,
    only_check: bool = False,
) -> Case:
    resource = AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[AlterableConfig(name=key, value=value) for key, value in values],
    )
    request = AlterConfigsRequest(resources=[resource], validate_only=only_check)
    return Case(f"replace {kind} {what}: {list(values)}", version, request)


# Answers as text


def readable(answer: Message, broker_id: int) -> list[str]:
    """Without what two brokers may differ in: who and where they are, and documentation."""
    lines = []
    if isinstance(answer, DescribeConfigsResponse):
        for result in answer.results:
            lines.append(_head(result.error_code, result.error_message, broker_id))
            lines += [_entry(one) for one in result.configs]
    elif isinstance(answer, AlterConfigsResponse | IncrementalAlterConfigsResponse):
        lines += [_response(one, broker_id) for one in answer.responses]
    return lines


def _response(one: AlterConfigsResourceResponse, broker_id: int) -> str:
    return f"{one.resource_type} {_head(one.error_code, one.error_message, broker_id)}"


def _head(code: int, message: str | None, broker_id: int) -> str:
    said = None if message is None else message
    for before in ("expected ", "Expected ", "received ", "name='"):
        said = said and said.replace(f"{before}{broker_id}", f"{before}ID")
    return f"{code} {said!r}"


def _entry(one: DescribeConfigsResourceResult) -> str:
    value = "HERE" if one.name in PLACE else one.value
    synonyms = [
        (each.name, "HERE" if one.name in PLACE and each.source != 5 else each.value, each.source)
        for each in one.synonyms
    ]
    marks = (one.read_only, one.is_default, one.config_source, one.is_sensitive, one.config_type)
    return f"{one.name}={value!r} {marks} {synonyms}"


def store(answers: dict[str, list[str]]) -> None:
    lines = [json.dumps({"case": name, "answer": answer}) for name, answer in answers.items()]
    VECTORS.write_text("\n".join(lines) + "\n")


def stored() -> dict[str, list[str]]:
    lines = (json.loads(line) for line in VECTORS.read_text().splitlines())
    return {line["case"]: line["answer"] for line in lines}
