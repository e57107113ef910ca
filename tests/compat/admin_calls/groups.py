"""As Groups.java: groups as an administrator sees and changes them. The member is librdkafka's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from functools import partial
from typing import Any

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as RdPartition

from logquake.client import Admin
from logquake.client.admin.asking.by_broker import ByBroker
from logquake.client.admin.described_groups import MemberDescription
from logquake.client.admin.groups import ConsumerGroupListing, MemberToRemove
from logquake.client.admin.topics import NewTopic
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.sync.futures import Future
from logquake.wire.sentinels import NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition
from tests.compat.admin_calls.said import Said, all_of, done, optional, text
from tests.waiting import PATIENCE_S, wait_for

FIRST, SECOND = TopicPartition("grouped", 0), TopicPartition("grouped", 1)
UNKNOWN = TopicPartition("unknown", 0)


def make(admin: Admin, servers: str, said: Said) -> None:
    done(admin.create_topics([NewTopic("grouped", 2, 1)]))
    settings = {
        "bootstrap.servers": servers,
        "group.id": "busy",
        "client.id": "c",
        "group.instance.id": "i",
        "heartbeat.interval.ms": 300,
        "session.timeout.ms": 45_000,
        "enable.auto.commit": False,
        "partition.assignment.strategy": "range",
    }
    with closing(Consumer(settings)) as member:
        member.subscribe(["grouped"])
        wait_for("member", lambda: _assigned(member), lambda found: len(found) == 2)
        _busy(admin, member, said)
    _listed(admin, said)
    _offsets(admin, said)
    for group in ("made", "made", "never-seen", "busy"):
        _deleted(admin, said, f"delete {group}", group)
    _described(admin, said, "made")


def _assigned(member: Consumer) -> list[Any]:
    member.poll(0.1)
    return list(member.assignment())


def _busy(admin: Admin, member: Consumer, said: Said) -> None:
    _described(admin, said, "busy")
    said.of(
        "offsets of the busy altered",
        lambda: done(admin.alter_consumer_group_offsets("busy", {FIRST: OffsetAndMetadata(2)})),
    )
    member.commit(offsets=[RdPartition(*FIRST, 0)], asynchronous=False)
    said.of(
        "offsets of the busy deleted",
        lambda: done(admin.delete_consumer_group_offsets("busy", [FIRST])),
    )
    _deleted(admin, said, "the busy deleted", "busy")
    _removed(admin, said, "an unknown member removed", "nobody")
    _removed(admin, said, "the member removed", "i")
    _described(admin, said, "busy")
    assert admin.remove_all_members_from_consumer_group("busy").result(PATIENCE_S) == {}


def _removed(admin: Admin, said: Said, call: str, instance_id: str) -> None:
    member = MemberToRemove(instance_id)
    said.of(call, lambda: done(admin.remove_members_from_consumer_group("busy", [member])))


def _deleted(admin: Admin, said: Said, call: str, group: str) -> None:
    said.of(call, lambda: done(admin.delete_consumer_groups([group])))


def _described(admin: Admin, said: Said, group: str) -> None:
    def made() -> str:
        asked = admin.describe_consumer_groups([group], include_authorized_operations=True)
        found = all_of(asked)[group]
        operations = {each.name for each in found.authorized_operations or ()}
        return (
            f"{found.state} {found.type} {text(found.is_simple_consumer_group)} "
            f"{found.partition_assignor} {text(found.coordinator)} "
            f"{text(operations)}{text(list(map(_member, found.members)))}"
        )

    said.of(f"describe {group}", made)


def _member(member: MemberDescription) -> str:
    places = ",".join(map(str, sorted(member.assignment)))
    return (
        f"{member.client_id}{optional(member.group_instance_id)}{member.host}"
        f"{len(member.member_id)}(topicPartitions={places})"
    )


def _listed(admin: Admin, said: Said) -> None:
    for states, types in (
        ([], []),
        (["Stable"], []),
        (["Empty"], []),
        ([], ["Classic"]),
        ([], ["Consumer"]),
    ):
        found = admin.list_consumer_groups(states=states, types=types)
        said.of(
            f"list {text(states)}{text(types)}",
            partial(_listings, found),
        )
    _described(admin, said, "never-seen")


def _listings(found: Future[ByBroker[ConsumerGroupListing]]) -> set[str]:
    return {_listing(each) for each in found.result(PATIENCE_S).all()}


def _listing(found: ConsumerGroupListing) -> str:
    return (
        f"(groupId='{found.group_id}', "
        f"isSimpleConsumerGroup={text(found.is_simple_consumer_group)}, "
        f"state={optional(found.state or None)}, type={optional(found.type or None)})"
    )


def _offsets(admin: Admin, said: Said) -> None:
    by_hand = {FIRST: OffsetAndMetadata(4, metadata="by hand"), SECOND: OffsetAndMetadata(0)}
    for call, offsets in (
        ("offsets altered", by_hand),
        ("offsets of the unknown altered", {UNKNOWN: OffsetAndMetadata(1)}),
        ("offsets below nothing", {FIRST: OffsetAndMetadata(2**40)}),
    ):
        altered = admin.alter_consumer_group_offsets("made", offsets)
        said.of(call, partial(done, altered))
    said.of("offsets", lambda: _committed(admin, {"made": None})["made"])
    said.of(
        "stable offsets of some",
        lambda: _committed(admin, {"made": [SECOND, UNKNOWN], "never-seen": None}, stable=True),
    )
    for call, group, place in (
        ("offsets deleted", "made", FIRST),
        ("offsets of the unknown deleted", "made", UNKNOWN),
        ("offsets of nobody deleted", "never-seen", FIRST),
    ):
        deleted = admin.delete_consumer_group_offsets(group, [place])
        said.of(call, partial(done, deleted))
    said.of("offsets that are left", lambda: _committed(admin, {"made": None})["made"])
    _described(admin, said, "made")


def _committed(
    admin: Admin,
    groups: Mapping[str, Collection[TopicPartition] | None],
    *,
    stable: bool = False,
) -> dict[str, dict[TopicPartition, str]]:
    asked = admin.list_consumer_group_offsets(groups, require_stable=stable)
    return {
        group: {place: _offset(each) for place, each in found.items()}
        for group, found in all_of(asked).items()
    }


def _offset(committed: OffsetAndMetadata | None) -> str:
    if committed is None:
        return "null"
    epoch = text(None if committed.leader_epoch == NO_LEADER_EPOCH else committed.leader_epoch)
    return (
        f"OffsetAndMetadata{{offset={committed.offset}, leaderEpoch={epoch}, "
        f"metadata='{committed.metadata}'}}"
    )
