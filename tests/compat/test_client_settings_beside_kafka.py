"""Our clients' keys against those that Kafka's own tables print: names, defaults, bounds."""

from __future__ import annotations

import html
import re
from dataclasses import fields
from typing import NamedTuple

import pytest

from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.keys import kind_of, name_of
from logquake.client.settings.kinds import INT_MAX, Kind, Whole
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import Table
from tests.compat.kafka_programs import KafkaPrograms

pytestmark = pytest.mark.maven

TABLES: list[tuple[type[Table], str]] = [
    (ProducerConfig, "producer.ProducerConfig"),
    (ConsumerConfig, "consumer.ConsumerConfig"),
    (AdminConfig, "admin.AdminClientConfig"),
]
# What a program brings along has no default to read; the others deviate.
NOT_COMPARED = {
    "key.serializer",
    "value.serializer",
    "key.deserializer",
    "value.deserializer",
    "partitioner.class",
    "bootstrap.servers",  # Kafka's is "", which is refused later
    "metadata.recovery.strategy",  # rebootstrap, as from 4.0 on
    "partition.assignment.strategy",  # classes of Java's there
}


OUR_OWN = "logquake."  # is how the names of keys of our own begin
SINCE_4_0 = {"metadata.recovery.rebootstrap.trigger.ms"}


class KafkasKey(NamedTuple):
    kind: str
    default: str
    allowed: str


Both = tuple[type[Table], dict[str, KafkasKey]]


def is_compared(name: str) -> bool:
    return not name.startswith(OUR_OWN) and name not in SINCE_4_0


def printed(table: str) -> dict[str, KafkasKey]:
    """By name, of a table as ConfigDef.toHtml has it."""
    entry = r'<a id="([^"]+)">.*?'
    rows = (rf"{title}:</th><td>(.*?)</td>.*?" for title in ("Type", "Default", "Valid Values"))
    found = re.findall(f"<h4>{entry}{''.join(rows)}", table, re.DOTALL)
    return {name: KafkasKey(*map(html.unescape, told)) for name, *told in found}


@pytest.fixture(scope="module", params=TABLES, ids=[theirs for _, theirs in TABLES])
def both(request: pytest.FixtureRequest, kafka_programs: KafkaPrograms) -> Both:
    ours, theirs = request.param
    return ours, printed(kafka_programs.run(f"org.apache.kafka.clients.{theirs}"))


def default_of(theirs: KafkasKey) -> str | None:
    """As text: what follows in brackets is for people."""
    text = theirs.default.split(" (")[0]
    return None if text == "null" else text.strip('"')


def accepts(kind: Kind[object], value: object) -> bool:
    try:
        kind.read(value)
    except ValueError:
        return False
    return True


def test_no_key_is_unheard_of_and_none_is_forgotten(
    both: Both,
) -> None:
    ours, theirs = both
    names = [name_of(each.name) for each in fields(ours) if is_compared(name_of(each.name))]
    assert sorted([*names, *ours.absent]) == sorted(theirs)


def test_defaults_and_bounds_are_kafkas(both: Both) -> None:
    ours, theirs = both
    for each in fields(ours):
        name, kind = name_of(each.name), kind_of(each.metadata)
        if not is_compared(name):
            continue
        known = theirs[name]
        if name not in NOT_COMPARED:
            assert kind.read(default_of(known)) == each.default, name
        if isinstance(kind, Whole):
            assert accepts(kind, INT_MAX + 1) == (known.kind == "long"), name
        if limits := re.fullmatch(r"\[(-?\d+),\.\.\.(?:,(-?\d+))?\]", known.allowed):
            least, most = limits.groups()
            assert accepts(kind, least), name
            assert not accepts(kind, int(least) - 1), name
            assert most is None or (accepts(kind, most) and not accepts(kind, int(most) + 1)), name
        elif choices := re.fullmatch(r"(?:\(case insensitive\) )?\[([^.]+)\]", known.allowed):
            assert all(accepts(kind, choice) for choice in choices[1].split(", ")), name


def test_what_may_be_written_of_absent_keys_is_what_kafka_takes(
    both: Both,
) -> None:
    ours, theirs = both
    of_kind = {"boolean": {"true", "false"}, "int": {"-1"}}
    for name, absent in ours.absent.items():
        known = theirs[name]
        if absent.behaves_as is not None:
            allowed = of_kind.get(known.kind, set(re.findall(r"\w+", known.allowed.lower())))
            assert absent.behaves_as in allowed | {default_of(known)}, name
