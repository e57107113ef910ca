"""What can be waited for on a cluster that runs, and what a wait says that ran out of time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, Producer

from logquake.cluster.api import Cluster
from logquake.cluster.errors import WaitTimeoutError
from tests.waiting import PATIENCE_S, wait_for

NOT_YET_S = 0.2


def said_in_vain(wait: Callable[[], object]) -> str:
    """By a wait that ran out of time; a starved machine may not have let it look even once."""
    with pytest.raises(WaitTimeoutError) as raised:
        wait()
    return str(raised.value)


def test_a_wait_for_an_offset_ends_when_it_is_committed(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic()
    wait_for(
        "look in vain",
        lambda: said_in_vain(lambda: cluster.wait_offset(name, 0, 3, timeout=NOT_YET_S)),
        lambda said: f"high watermark of {name}-0 is not 3 or above, but 0 after" in said,
    )
    producer = Producer(cluster.client_config())
    for number in range(3):
        producer.produce(name, str(number))
    producer.flush(PATIENCE_S)
    assert cluster.wait_offset(name, 0, 3, timeout=PATIENCE_S) == 3


def test_a_wait_for_a_group_ends_when_its_members_have_their_partitions(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=2)
    consumer = Consumer({**cluster.client_config(), "group.id": "waited-for"})
    try:
        consumer.subscribe([name])
        consumer.poll(0)
        found = cluster.wait_group_stable("waited-for", members=1, timeout=PATIENCE_S)
        assert [place.partition for place in found.members[0].assigned] == [0, 1]
        said = wait_for(
            "look in vain",
            lambda: said_in_vain(
                lambda: cluster.wait_group_stable("waited-for", members=2, timeout=NOT_YET_S)
            ),
            lambda said: "state='Stable'" in said,
        )
        assert "is not stable with 2 members" in said
        assert "broker-3" in said
    finally:
        consumer.close()


def test_a_check_is_asked_until_it_is_true_and_its_last_word_is_told(cluster: Cluster) -> None:
    seen = iter([0, None, 7])
    assert cluster.eventually(lambda: next(seen), timeout=PATIENCE_S) == 7

    def two_leaders() -> bool:
        assert len(cluster.state().brokers) == 2, "three brokers"
        return True

    with pytest.raises(WaitTimeoutError, match=r"two_leaders: AssertionError.*three brokers"):
        cluster.eventually(two_leaders, timeout=NOT_YET_S)
