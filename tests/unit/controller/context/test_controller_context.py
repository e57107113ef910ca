"""What the controller knows answers by group as it would by walking over everything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.rules.partitions import (
    Assignment,
    LeaderAndIsr,
    Leadership,
    PartitionStatus,
    Replica,
)
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.brokers import BrokerRegistration

BROKERS = (1, 2, 3)
TOPICS = ("orders", "payments")

partitions = st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 3))
replicas = st.permutations(BROKERS).flatmap(
    lambda order: st.integers(1, 3).map(lambda count: tuple(order[:count]))
)
steps = st.one_of(
    st.tuples(st.just("assign"), partitions, replicas),
    st.tuples(st.just("lead"), partitions, st.sampled_from((NO_LEADER, *BROKERS))),
    st.tuples(st.just("status"), partitions, st.sampled_from(PartitionStatus)),
    st.tuples(st.just("remove"), st.sampled_from(TOPICS), st.none()),
    st.tuples(st.just("delete"), st.sampled_from(TOPICS), st.none()),
    st.tuples(st.just("leave"), st.sampled_from(BROKERS), st.none()),
    st.tuples(st.just("die"), st.sampled_from(BROKERS), st.none()),
    st.tuples(st.just("fail"), partitions, st.sampled_from(BROKERS)),
)


def _apply(context: ControllerContext, what: str, subject: Any, value: Any) -> None:
    match what:
        case "assign":
            context.assign(subject, Assignment(value))
        case "lead" if context.assignment(subject).replicas:
            context.take_in(subject, Leadership(LeaderAndIsr(value, 0, BROKERS, 0), 1))
        case "status" if context.assignment(subject).replicas:
            context.set_status(subject, value)
        case "remove":
            context.remove_topic(subject)
        case "delete":
            context.topics_to_delete.add(subject)
        case "leave":
            context.shutting_down.add(subject)
        case "die":
            context.brokers.pop(subject, None)
        case "fail":
            context.replicas_on_offline_dirs.setdefault(value, set()).add(subject)


@given(st.lists(steps, max_size=40))
def test_groups_answer_as_a_walk_over_all_partitions_would(
    history: list[tuple[str, Any, Any]],
) -> None:
    context = ControllerContext()
    context.brokers = {each: LiveBroker(BrokerRegistration(each, (), 0), 7) for each in BROKERS}
    for step in history:
        _apply(context, *step)

    assert list(context.misplaced()) == []
    led = list(context.led())
    for broker_id in BROKERS:
        assert context.replicas_on([broker_id]) == [
            each for each in context.replicas(context.partitions()) if each.broker_id == broker_id
        ]
        assert context.led_by(broker_id) == [p for p, one in led if one.state.leader == broker_id]
        assert context.preferring_count(broker_id) == sum(
            context.assignment(p).replicas[0] == broker_id for p, _ in led
        )
        assert context.led_elsewhere().get(broker_id, []) == [
            p
            for p, one in led
            if context.assignment(p).replicas[0] == broker_id != one.state.leader
        ]
    assert context.without_online_leader() == [
        p for p, one in led if not context.is_online(Replica(p, one.state.leader))
    ]
    for status in PartitionStatus:
        assert context.partitions_in(status) == [
            p for p in context.partitions() if context.partition_status.get(p) is status
        ]


def test_a_group_that_is_out_of_step_is_told() -> None:
    context = ControllerContext()
    partition = TopicPartition("orders", 0)
    context.assign(partition, Assignment((1, 2)))
    context._hosted.remove(partition, 2)
    (told,) = context.misplaced()
    assert told.startswith("hosted is")


@pytest.mark.parametrize("partition_count", [10, 1000])
def test_an_event_of_one_broker_looks_at_its_partitions_only(partition_count: int) -> None:
    """Counted in partitions that leave the groups, whatever else the cluster has."""
    context = ControllerContext()
    for number in range(partition_count):
        partition = TopicPartition("orders", number)
        leader = 1 if number == 0 else 2
        context.assign(partition, Assignment((leader,)))
        context.take_in(partition, Leadership(LeaderAndIsr(leader, 0, (leader,), 0), 1))
    context.brokers = {2: LiveBroker(BrokerRegistration(2, (), 0), 7)}
    asked: list[str] = []

    class Watched(set[str]):
        def __contains__(self, topic: object) -> bool:
            asked.append(str(topic))
            return super().__contains__(topic)

    context.topics_to_delete = Watched()
    assert context.led_by(1) == context.without_online_leader() == [TopicPartition("orders", 0)]
    assert context.replicas_on([1]) == [Replica(TopicPartition("orders", 0), 1)]
    assert len(asked) == 2
