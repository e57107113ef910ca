"""Partitions moved between brokers, of which there is one."""

from __future__ import annotations

from logquake.client import Admin
from logquake.client.admin.topics import NewTopic
from logquake.wire.topic_partition import TopicPartition
from tests.compat.admin_calls.said import Said, done, text
from tests.waiting import PATIENCE_S, wait_for

HERE, UNKNOWN = TopicPartition("settled", 0), TopicPartition("unknown", 0)
BELOW_NOTHING = TopicPartition("settled", -1)


def make(admin: Admin, _: str, said: Said) -> None:
    done(admin.create_topics([NewTopic("settled", 1, 1)]))
    said.of("where it is", lambda: done(admin.alter_partition_reassignments({HERE: [1]})))
    wait_for("end", lambda: not admin.list_partition_reassignments().result(PATIENCE_S))
    said.of("to nobody", lambda: done(admin.alter_partition_reassignments({HERE: []})))
    said.of(
        "to a broker that is none", lambda: done(admin.alter_partition_reassignments({HERE: [9]}))
    )
    said.of("of the unknown", lambda: done(admin.alter_partition_reassignments({UNKNOWN: [1]})))
    said.of("taken back", lambda: done(admin.alter_partition_reassignments({HERE: None})))
    said.of("unnameable", lambda: done(admin.alter_partition_reassignments({BELOW_NOTHING: [1]})))
    said.of("listed", lambda: text(admin.list_partition_reassignments([HERE]).result(PATIENCE_S)))


# As KafkaController has them.
SAID = {
    "where it is": "null",
    "to nobody": "InvalidReplicaAssignmentException",
    "to a broker that is none": "InvalidReplicaAssignmentException",
    "of the unknown": "UnknownTopicOrPartitionException",
    "taken back": "NoReassignmentInProgressException",
    "unnameable": "InvalidTopicException",
    "listed": "{}",
}
