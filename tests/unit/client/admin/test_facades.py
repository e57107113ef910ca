"""What programs see of the admin client: all that Kafka's has, in both worlds."""

from __future__ import annotations

import re

import pytest

from logquake.client import Admin, admin
from logquake.client.admin import topics
from logquake.client.admin.administering import Administering
from logquake.client.aio import Admin as AioAdmin

# The methods of org.apache.kafka.clients.admin.Admin 3.9, overloads once.
KAFKAS = (
    *("createTopics", "deleteTopics", "listTopics", "describeTopics", "describeCluster"),
    *("describeAcls", "createAcls", "deleteAcls"),
    *("describeConfigs", "alterConfigs", "incrementalAlterConfigs"),
    *("alterReplicaLogDirs", "describeLogDirs", "describeReplicaLogDirs"),
    *("createPartitions", "deleteRecords", "listOffsets", "electLeaders"),
    *("createDelegationToken", "renewDelegationToken"),
    *("expireDelegationToken", "describeDelegationToken"),
    *("describeConsumerGroups", "listConsumerGroups", "deleteConsumerGroups"),
    *("listConsumerGroupOffsets", "alterConsumerGroupOffsets", "deleteConsumerGroupOffsets"),
    *("removeMembersFromConsumerGroup", "metrics", "close"),
    *("alterPartitionReassignments", "listPartitionReassignments"),
    *("describeClientQuotas", "alterClientQuotas"),
    *("describeUserScramCredentials", "alterUserScramCredentials"),
    *("describeFeatures", "updateFeatures", "describeProducers", "describeTransactions"),
    *("abortTransaction", "listTransactions", "fenceProducers"),
    *("describeMetadataQuorum", "unregisterBroker", "addRaftVoter", "removeRaftVoter"),
    *("listClientMetricsResources", "clientInstanceId"),
)
# What is an argument of the same method in Kafka.
BESIDES = {
    "delete_topics_by_id",
    "describe_topics_by_id",
    "remove_all_members_from_consumer_group",
}


def spelt(name: str) -> str:
    return re.sub(r"([A-Z])", lambda capital: f"_{capital[1].lower()}", name)


def calls_of(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize("facade", [Admin, AioAdmin])
def test_both_have_every_call_of_kafkas(facade: type) -> None:
    handed_out = calls_of(facade) - {"begin", "future_of"}
    assert handed_out == set(map(spelt, KAFKAS)) | BESIDES
    assert calls_of(Administering) - {"time_at_the_end_ms"} == handed_out


@pytest.mark.parametrize("facade", [Admin, AioAdmin])
def test_a_call_says_what_it_takes(facade: type) -> None:
    assert facade.delete_records.__doc__ == Administering.delete_records.__doc__  # type: ignore[attr-defined]


def name_of(handed_out: str) -> str:
    """What it calls itself; a number has no name."""
    own: str = getattr(getattr(admin, handed_out), "__name__", handed_out)
    return own


def test_values_are_handed_out_by_their_names() -> None:
    assert admin.NewTopic is topics.NewTopic
    assert [name for name in admin._MODULES if name_of(name) != name] == ["Config"]
    with pytest.raises(AttributeError, match="OldTopic"):
        admin.OldTopic  # noqa: B018
