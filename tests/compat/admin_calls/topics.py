"""As Topics.java: topics and their partitions made, described, grown, cut and removed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from logquake.client import Admin, Producer
from logquake.client.admin.described_topics import TopicDescription, TopicPartitionInfo
from logquake.client.admin.offsets import OffsetSpec
from logquake.client.admin.reassignments import ElectionType
from logquake.client.admin.topics import NewPartitions, NewTopic
from logquake.client.sync.futures import Future
from logquake.wire.topic_partition import TopicPartition
from tests.compat.admin_calls.said import Said, all_of, done, name_of, optional, text
from tests.waiting import PATIENCE_S

CUT = TopicPartition("cut", 0)
UNKNOWN = TopicPartition("unknown", 0)
UNKNOWN_ID = bytes(7) + b"\4" + bytes(7) + b"\5"
SHORT_MS = 1_500


def make(admin: Admin, servers: str, said: Said) -> None:
    _create(admin, said)
    _describe(admin, said)
    _grow(admin, said)
    _cut(admin, servers, said)
    _elect(admin, said)
    _remove(admin, said)


def _create(admin: Admin, said: Said) -> None:
    for topic in (
        NewTopic("plain", 2, 1),
        NewTopic("by-default"),
        NewTopic("placed", replicas_assignments={0: [1], 1: [1]}),
        NewTopic("placed-twice", replicas_assignments={0: [1, 1]}),
        NewTopic("set", 1, 1, configs={"retention.ms": "3600000"}),
        NewTopic("set-badly", 1, 1, configs={"retention.ms": "long"}),
        NewTopic("set-unknown", 1, 1, configs={"retention": "1"}),
        NewTopic("plain", 1, 1),
        NewTopic("none", 0, 1),
        NewTopic("many", 1, 2),
        NewTopic("bad name", 1, 1),
        NewTopic("pl.ain", 1, 1),
        NewTopic("pl_ain", 1, 1),
    ):
        _created(admin, said, f"create {topic.name}", topic)
    _created(admin, said, "create only to see", NewTopic("seen", 3, 1), validate_only=True)
    said.of("list", lambda: set(admin.list_topics().result(PATIENCE_S)))
    said.of(
        "list internal ones", lambda: set(admin.list_topics(list_internal=True).result(PATIENCE_S))
    )


def _created(
    admin: Admin, said: Said, call: str, topic: NewTopic, *, validate_only: bool = False
) -> None:
    def made() -> str:
        found = all_of(admin.create_topics([topic], validate_only=validate_only))[topic.name]
        settings = {
            each.name: f"{each.value} {each.source.name} "
            f"{text(each.is_sensitive)}{text(each.is_read_only)}"
            for each in found.config.values()
        }
        return (
            f"{found.num_partitions} partitions, {found.replication_factor} replicas, "
            f"{text(settings)}"
        )

    said.of(call, made)


def _describe(admin: Admin, said: Said) -> None:
    plain = admin.describe_topics(["plain"])["plain"].result(PATIENCE_S)
    said.of("describe", lambda: _described(admin.describe_topics(["plain", "placed"])))
    said.of("describe by id", lambda: _described(admin.describe_topics_by_id([plain.topic_id])))
    said.of(
        "describe with what is allowed",
        lambda: {
            each.name
            for each in admin.describe_topics(["plain"], include_authorized_operations=True)[
                "plain"
            ]
            .result(PATIENCE_S)
            .authorized_operations
            or ()
        },
    )
    said.of("describe an unknown one", lambda: _described(admin.describe_topics(["unknown"])))
    said.of("describe an unknown id", lambda: _described(admin.describe_topics_by_id([UNKNOWN_ID])))
    said.of("describe a bad name", lambda: _described(admin.describe_topics(["bad name"])))


def _described(found: Mapping[Any, Future[TopicDescription]]) -> set[str]:
    return {
        f"{each.name} {text(each.is_internal)} {text(list(map(_partition, each.partitions)))}"
        for each in all_of(found).values()
    }


def _partition(info: TopicPartitionInfo) -> str:
    replicas, isr = (", ".join(map(text, nodes)) for nodes in (info.replicas, info.isr))
    return (
        f"(partition={info.partition}, leader={text(info.leader)}, replicas={replicas}, isr={isr}, "
        "elr=N/A, lastKnownElr=N/A)"
    )


def _grow(admin: Admin, said: Said) -> None:
    for call, topic, wanted, validate_only in (
        ("grow", "plain", NewPartitions(4), False),
        ("grow only to see", "plain", NewPartitions(6), True),
        ("grow to less", "plain", NewPartitions(1), False),
        ("grow to the same", "plain", NewPartitions(4), False),
        ("grow what is unknown", "unknown", NewPartitions(4), False),
        ("grow by place", "placed", NewPartitions(3, [[1]]), False),
        ("grow by odd place", "placed", NewPartitions(4, [[9]]), False),
    ):
        asked = {topic: wanted}
        grown = admin.create_partitions(asked, validate_only=validate_only)
        said.of(call, partial(done, grown))
    said.of(
        "describe what has grown", lambda: _described(admin.describe_topics(["plain", "placed"]))
    )


def _cut(admin: Admin, servers: str, said: Said) -> None:
    done(admin.create_topics([NewTopic("cut", 1, 1)]))
    write_some(servers, "cut", 10)
    _deleted(admin, said, "delete records", 4)
    _deleted(admin, said, "delete more than there are", 40)
    said.of(
        "delete records of the unknown",
        lambda: done(admin.delete_records({UNKNOWN: 1}, timeout_ms=SHORT_MS)),
    )
    for name, spec in (
        ("EarliestSpec", OffsetSpec.EARLIEST),
        ("LatestSpec", OffsetSpec.LATEST),
        ("MaxTimestampSpec", OffsetSpec.MAX_TIMESTAMP),
        # Both are called the same: the one that was asked for last is what is noted.
        ("TimestampSpec", 1005),
        ("TimestampSpec", (2**63 - 1) // 2),
        ("EarliestLocalSpec", OffsetSpec.EARLIEST_LOCAL),
        ("LatestTieredSpec", OffsetSpec.LATEST_TIERED),
    ):
        _listed(admin, said, f"offset {name}", spec)
    nowhere = {TopicPartition("cut", 5): OffsetSpec.LATEST}
    said.of("offset of the unknown", lambda: done(admin.list_offsets(nowhere, timeout_ms=SHORT_MS)))
    _deleted(admin, said, "delete all records", -1)
    _listed(admin, said, "offset of the empty", OffsetSpec.MAX_TIMESTAMP)


def write_some(servers: str, topic: str, count: int) -> None:
    """A batch each, as Producing.java does."""
    with Producer(bootstrap_servers=servers, linger_ms=0) as producer:
        for each in range(count):
            producer.send(
                topic, b"v%d" % each, b"k%d" % each, partition=0, timestamp_ms=1000 + each
            ).result(PATIENCE_S)


def _deleted(admin: Admin, said: Said, call: str, before: int) -> None:
    said.of(call, lambda: admin.delete_records({CUT: before})[CUT].result(PATIENCE_S).low_watermark)


def _listed(admin: Admin, said: Said, call: str, spec: int) -> None:
    def made() -> str:
        found = admin.list_offsets({CUT: spec})[CUT].result(PATIENCE_S)
        return f"{found.offset} at {found.timestamp} epoch {optional(found.leader_epoch)}"

    said.of(call, made)


def _elect(admin: Admin, said: Said) -> None:
    for kind in ElectionType:
        for place in (CUT, UNKNOWN):
            elected = admin.elect_leaders(kind, [place])
            said.of(f"elect {kind.name} {place}", partial(_outcomes, elected))
    said.of("elect all", lambda: _outcomes(admin.elect_leaders(ElectionType.PREFERRED, None)))


def _outcomes(elected: Future[Any]) -> dict[TopicPartition, str]:
    return {
        place: optional(error and name_of(error))
        for place, error in elected.result(PATIENCE_S).items()
    }


def _remove(admin: Admin, said: Said) -> None:
    placed = admin.describe_topics(["placed"])["placed"].result(PATIENCE_S).topic_id
    said.of("remove", lambda: done(admin.delete_topics(["plain"])))
    said.of("remove again", lambda: done(admin.delete_topics(["plain"])))
    said.of("remove by id", lambda: done(admin.delete_topics_by_id([placed])))
    said.of("remove an unknown id", lambda: done(admin.delete_topics_by_id([UNKNOWN_ID])))
    said.of("remove a bad name", lambda: done(admin.delete_topics(["bad name"])))
