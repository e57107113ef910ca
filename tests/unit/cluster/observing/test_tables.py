from __future__ import annotations

import time

from logquake.cluster.observing.tables import as_text, leader_counts, member_rows, partition_rows
from logquake.cluster.state import ClusterState, Ending, MemberState, Phase
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState

PARTITIONS = {
    TopicPartition("orders", 1): PartitionState(NO_LEADER, 3, (2,), 1),
    TopicPartition("orders", 0): PartitionState(1, 0, (1, 2), 1),
    TopicPartition("orders", 2): PartitionState(1, 0, (1, 2), 1),
}


def state() -> ClusterState:
    now_ms = int(time.time() * 1000)
    killed = Ending(now_ms, "SIGKILL", None, True)
    return ClusterState(
        "default",
        1,
        "fast_failover",
        "127.0.0.1:2181",
        (
            MemberState("zookeeper", "127.0.0.1", 2181, Phase.RUNNING, 5, now_ms, None),
            MemberState("broker-1", "127.0.0.1", 9092, Phase.RUNNING, 6, now_ms, None),
            MemberState("broker-2", "127.0.0.1", 9093, Phase.ENDED, None, now_ms, killed),
        ),
    )


def test_a_member_shows_what_it_leads_and_how_it_ended() -> None:
    zookeeper, one, two = member_rows(state(), leader_counts(PARTITIONS))
    assert (zookeeper[5], one[5], two[5]) == ("-", "2", "-")
    assert two[2:4] == ("-", "ended")
    assert two[6].startswith("killed by SIGKILL at ")


def test_a_broker_that_leads_nothing_shows_zero_and_an_unknown_count_a_dash() -> None:
    assert member_rows(state(), {})[1][5] == "0"
    assert member_rows(state(), None)[1][5] == "-"


def test_partitions_come_in_order_and_name_a_missing_leader() -> None:
    assert partition_rows(PARTITIONS) == [
        ("orders-0", "1", "0", "1,2"),
        ("orders-1", "none", "3", "2"),
        ("orders-2", "1", "0", "1,2"),
    ]


def test_text_is_aligned_and_never_cut() -> None:
    assert as_text(("a", "long name"), [("wide cell", "x")]) == "a          long name\nwide cell  x"
