"""As Configs.java: configurations described, and altered in both ways."""

from __future__ import annotations

import re
from functools import partial

from logquake.client import Admin
from logquake.client.admin.configs import (
    AlterConfigOp,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    OpType,
)
from logquake.client.admin.topics import NewTopic
from tests.compat.admin_calls.said import Said, all_of, done, text
from tests.waiting import PATIENCE_S, wait_for

TOPIC = ConfigResource(ConfigResourceType.TOPIC, "configured")
UNKNOWN = ConfigResource(ConfigResourceType.TOPIC, "unknown")
BROKER = ConfigResource(ConfigResourceType.BROKER, "1")
ALL = ConfigResource(ConfigResourceType.BROKER, "")
OF_THE_MACHINE = re.compile(r"zookeeper.connect|(advertised.)?listeners|log.dirs?")


def make(admin: Admin, _: str, said: Said) -> None:
    done(admin.create_topics([NewTopic("configured", 1, 1)]))
    _alter_topic(admin, said)
    _alter_brokers(admin, said)
    _describe(admin, said)
    _remove(admin, said)
    _replace(admin, said)


def _altered(
    admin: Admin, said: Said, call: str, resource: ConfigResource, *op: AlterConfigOp
) -> None:
    said.of(call, lambda: done(admin.incremental_alter_configs({resource: op})))


def _alter_topic(admin: Admin, said: Said) -> None:
    for call, resource, op in (
        ("set", TOPIC, AlterConfigOp("retention.ms", "1000")),
        ("set what is no number", TOPIC, AlterConfigOp("retention.ms", "soon")),
        ("set what is unknown", TOPIC, AlterConfigOp("no.such.key", "1")),
        ("append", TOPIC, AlterConfigOp("cleanup.policy", "compact", OpType.APPEND)),
        ("subtract", TOPIC, AlterConfigOp("cleanup.policy", "delete", OpType.SUBTRACT)),
        ("append to what is no list", TOPIC, AlterConfigOp("retention.ms", "1", OpType.APPEND)),
        ("delete", TOPIC, AlterConfigOp("retention.ms", "", OpType.DELETE)),
        ("set on an unknown topic", UNKNOWN, AlterConfigOp("retention.ms", "1")),
    ):
        _altered(admin, said, call, resource, op)
    once, twice = AlterConfigOp("retention.ms", "5"), AlterConfigOp("retention.ms", "6")
    said.of(
        "set only to see",
        lambda: done(admin.incremental_alter_configs({TOPIC: [once]}, validate_only=True)),
    )
    _altered(admin, said, "the same key twice", TOPIC, once, twice)


def _alter_brokers(admin: Admin, said: Said) -> None:
    _altered(admin, said, "set of a broker", BROKER, AlterConfigOp("log.cleaner.threads", "2"))
    _altered(admin, said, "set of all brokers", ALL, AlterConfigOp("log.retention.ms", "7200000"))
    _altered(admin, said, "set what is read-only", BROKER, AlterConfigOp("broker.id", "2"))
    _altered(admin, said, "set too much", BROKER, AlterConfigOp("log.cleaner.threads", "0"))


def _describe(admin: Admin, said: Said) -> None:
    wait_for("settings that brokers have heard of", lambda: _is_set(admin, "7200000", "2"))
    for each in (TOPIC, BROKER, ALL, UNKNOWN):
        _described(admin, said, f"describe {each.type.name} {each.name}", each)
    said.of(
        "describe resources of client metrics",
        lambda: admin.list_client_metrics_resources().result(PATIENCE_S),
    )


def _is_set(admin: Admin, retention_ms: str, threads: str) -> bool:
    found = all_of(admin.describe_configs([TOPIC, BROKER]))
    values = (found[TOPIC]["retention.ms"].value, found[BROKER]["log.cleaner.threads"].value)
    return values == (retention_ms, threads)


def _described(admin: Admin, said: Said, call: str, resource: ConfigResource) -> None:
    asked = admin.describe_configs([resource], include_synonyms=True, include_documentation=True)

    def made() -> int:
        found = asked[resource].result(PATIENCE_S)
        for name, entry in sorted(found.items()):
            if not OF_THE_MACHINE.fullmatch(name):
                said.of(f"{call} {name}", partial(_shown, entry))
        return len(found)

    said.of(call, made)


def _shown(entry: ConfigEntry) -> str:
    synonyms = [
        f"ConfigSynonym(name={each.name}, value={text(each.value)}, source={each.source.name})"
        for each in entry.synonyms
    ]
    return (
        f"{text(entry.value)} {entry.source.name} {entry.type.name} {text(entry.is_read_only)} "
        f"{text(entry.is_sensitive)} {text(synonyms)} {text(not entry.documentation)}"
    )


def _remove(admin: Admin, said: Said) -> None:
    threads = AlterConfigOp("log.cleaner.threads", None, OpType.DELETE)
    retention = AlterConfigOp("log.retention.ms", None, OpType.DELETE)
    _altered(admin, said, "delete of a broker", BROKER, threads)
    _altered(admin, said, "delete of all brokers", ALL, retention)
    wait_for("settings that brokers have forgotten", lambda: _is_set(admin, "-1", "1"))


def _replace(admin: Admin, said: Said) -> None:
    for value in ("77", "much"):
        replaced = admin.alter_configs({TOPIC: {"retention.bytes": value}})
        said.of(f"replace by {value}", partial(done, replaced))
    said.of("what stands", lambda: _what_stands(admin))


def _what_stands(admin: Admin) -> list[str]:
    entries = all_of(admin.describe_configs([TOPIC]))[TOPIC].values()
    return sorted(
        f"{each.name}={each.value} {each.source.name}" for each in entries if not each.is_default
    )
