"""The metadata cache follows the controller's word, partition by partition."""

from __future__ import annotations

import pytest

from logquake.node.metadata.cache import MetadataCache, Node
from logquake.seams.network import Endpoint
from logquake.wire.listeners import PLAINTEXT, ListenerName
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.sentinels import LEADER_DURING_DELETE

SSL, INTERNAL = ListenerName("SSL"), ListenerName("INTERNAL")
TOPIC_ID = bytes(range(16))


def state(partition: int, leader: int) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        partition_index=partition, leader=leader, isr=[1, 2], replicas=[1, 2]
    )


def update(*states: UpdateMetadataPartitionState, brokers: int = 2) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(
        controller_id=1,
        topic_states=[
            UpdateMetadataTopicState(
                topic_name="orders", topic_id=TOPIC_ID, partition_states=list(states)
            )
        ]
        if states
        else [],
        live_brokers=[
            UpdateMetadataBroker(
                id=broker_id,
                rack=None,
                endpoints=[
                    UpdateMetadataEndpoint(host="other", port=1, listener="SSL"),
                    UpdateMetadataEndpoint(host="h", port=9000 + broker_id, listener="PLAINTEXT"),
                ],
            )
            for broker_id in range(1, brokers + 1)
        ],
    )


def test_brokers_are_known_by_each_of_their_listeners() -> None:
    cache = MetadataCache(PLAINTEXT)
    cache.update(update())
    assert cache.nodes(PLAINTEXT) == [Node(1, "h", 9001, None), Node(2, "h", 9002, None)]
    assert cache.nodes(SSL) == [Node(1, "other", 1, None), Node(2, "other", 1, None)]
    assert cache.endpoint(2) == Endpoint(2, "h", 9002)
    assert cache.controller_id == 1


def test_a_broker_without_a_listener_is_alive_all_the_same() -> None:
    cache = MetadataCache(PLAINTEXT)
    cache.update(update(brokers=1))
    assert cache.is_alive(1)
    assert cache.node(1, INTERNAL) is None
    assert cache.nodes(INTERNAL) == []


@pytest.mark.parametrize(
    ("endpoint", "listener"),
    [
        (UpdateMetadataEndpoint(host="h", port=1, security_protocol=0), PLAINTEXT),
        (UpdateMetadataEndpoint(host="h", port=1, security_protocol=3), ListenerName("SASL_SSL")),
    ],
)
def test_a_listener_without_a_name_has_its_protocols(
    endpoint: UpdateMetadataEndpoint, listener: ListenerName
) -> None:
    """Versions 1 and 2 of UpdateMetadata."""
    cache = MetadataCache(PLAINTEXT)
    broker = UpdateMetadataBroker(id=1, endpoints=[endpoint], rack=None)
    cache.update(UpdateMetadataRequest(controller_id=1, live_brokers=[broker]))
    assert cache.nodes(listener) == [Node(1, "h", 1, None)]


def test_an_address_of_an_unknown_protocol_is_passed_over() -> None:
    cache = MetadataCache(PLAINTEXT)
    endpoint = UpdateMetadataEndpoint(host="h", port=1, security_protocol=77)
    broker = UpdateMetadataBroker(id=1, endpoints=[endpoint], rack=None)
    cache.update(UpdateMetadataRequest(controller_id=1, live_brokers=[broker]))
    assert cache.is_alive(1)


def test_live_brokers_are_replaced_and_partitions_are_merged() -> None:
    cache = MetadataCache(PLAINTEXT)
    assert cache.update(update(state(0, 1))) == ({"orders"}, [])
    cache.update(update(state(1, 2), brokers=1))
    assert cache.has_leaders("orders", [0])
    assert not cache.has_leaders("orders", [0, 1])  # broker 2 is gone
    assert cache.topic_name(TOPIC_ID) == "orders"


def test_a_topic_goes_with_its_last_partition() -> None:
    cache = MetadataCache(PLAINTEXT)
    cache.update(update(state(0, 1), state(1, 1)))
    cache.update(update(state(0, LEADER_DURING_DELETE)))
    assert [name for name, _ in cache.images()] == ["orders"]
    touched = cache.update(update(state(1, LEADER_DURING_DELETE)))
    assert touched == ({"orders"}, [("orders", 1)])
    assert cache.images() == []
    assert cache.topic_name(TOPIC_ID) is None


def test_a_topic_made_anew_under_another_id_drops_the_old_one() -> None:
    cache = MetadataCache(PLAINTEXT)
    cache.update(update(state(0, 1)))
    anew = update(state(0, 1))
    anew.topic_states[0].topic_id = bytes(15) + b"\x01"
    cache.update(anew)
    assert cache.topic_name(TOPIC_ID) is None
    assert cache.topic_id("orders") == bytes(15) + b"\x01"


def test_the_layout_before_version_5_is_read_too() -> None:
    old = UpdateMetadataRequest(controller_id=-1, ungrouped_partition_states=[state(0, 1)])
    old.ungrouped_partition_states[0].topic_name = "legacy"
    cache = MetadataCache(PLAINTEXT)
    assert cache.update(old).topics == {"legacy"}
    assert cache.controller_id is None
