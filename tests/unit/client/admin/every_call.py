"""Every call of the admin client, with something to ask about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from logquake.client.admin.acls import AclBindingFilter
from logquake.client.admin.administering import Administering
from logquake.client.admin.cluster import FeatureUpdate, UpgradeType
from logquake.client.admin.configs import AlterConfigOp, ConfigResource, ConfigResourceType
from logquake.client.admin.groups import MemberToRemove
from logquake.client.admin.log_dirs import TopicPartitionReplica
from logquake.client.admin.offsets import OffsetSpec
from logquake.client.admin.producers import AbortTransactionSpec
from logquake.client.admin.quotas import USER, ClientQuotaEntity, ClientQuotaFilter, ClientQuotaOp
from logquake.client.admin.reassignments import ElectionType
from logquake.client.admin.scram import UserScramCredentialDeletion, UserScramCredentialUpsertion
from logquake.client.admin.topics import NewPartitions, NewTopic
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.isolation import Isolation
from logquake.wire.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.wire.topic_partition import TopicPartition

Call = Callable[[Administering], Any]

PLACE, OTHER = TopicPartition("t", 0), TopicPartition("u", 3)
TOPIC = ConfigResource(ConfigResourceType.TOPIC, "t")
BROKER = ConfigResource(ConfigResourceType.BROKER, "1")
ALICE = KafkaPrincipal("User", "alice")
BINDING = AclBinding(
    ResourcePattern(ResourceType.TOPIC, "t", PatternType.LITERAL),
    AccessControlEntry(ALICE, "*", AclOperation.READ, AclPermissionType.ALLOW),
)
ENTITY = ClientQuotaEntity.of({USER: "alice"})
ID = Random(7).randbytes(16)
OFFSET = OffsetAndMetadata(5, 2, "m")
SHA_256 = ScramMechanism.SCRAM_SHA_256

EVERY_CALL: Mapping[str, Call] = {
    "create_topics": lambda a: a.create_topics(
        [NewTopic("t", 1, 1, configs={"k": "v"}), NewTopic("u", replicas_assignments={0: [1]})]
    ),
    "create_topics by default": lambda a: a.create_topics([NewTopic("t")]),
    "create_topics only to see": lambda a: a.create_topics(
        [NewTopic("t", 1, 1)], validate_only=True
    ),
    "delete_topics": lambda a: a.delete_topics(["t", "u"]),
    "delete_topics_by_id": lambda a: a.delete_topics_by_id([ID]),
    "create_partitions": lambda a: a.create_partitions({"t": NewPartitions(4, [[1], [2]])}),
    "list_topics": lambda a: a.list_topics(),
    "describe_topics": lambda a: a.describe_topics(["t"]),
    "describe_topics with operations": lambda a: a.describe_topics(
        ["t"], include_authorized_operations=True
    ),
    "describe_topics_by_id": lambda a: a.describe_topics_by_id([ID]),
    "describe_configs": lambda a: a.describe_configs([TOPIC, BROKER]),
    "describe_configs with all": lambda a: a.describe_configs(
        [TOPIC], include_synonyms=True, include_documentation=True
    ),
    "incremental_alter_configs": lambda a: a.incremental_alter_configs(
        {TOPIC: [AlterConfigOp("k", "v")]}
    ),
    "alter_configs": lambda a: a.alter_configs({TOPIC: {"k": "v"}}),
    "list_offsets": lambda a: a.list_offsets({PLACE: OffsetSpec.LATEST, OTHER: 5}),
    "list_offsets of the newest": lambda a: a.list_offsets({PLACE: OffsetSpec.MAX_TIMESTAMP}),
    "list_offsets of what is committed": lambda a: a.list_offsets(
        {PLACE: OffsetSpec.LATEST}, isolation_level=Isolation.READ_COMMITTED
    ),
    "delete_records": lambda a: a.delete_records({PLACE: 4}),
    "elect_leaders": lambda a: a.elect_leaders(ElectionType.PREFERRED, [PLACE]),
    "elect_leaders at any price": lambda a: a.elect_leaders(ElectionType.UNCLEAN, None),
    "alter_partition_reassignments": lambda a: a.alter_partition_reassignments(
        {PLACE: [1, 2], OTHER: None}
    ),
    "list_partition_reassignments": lambda a: a.list_partition_reassignments([PLACE]),
    "describe_log_dirs": lambda a: a.describe_log_dirs([1]),
    "describe_replica_log_dirs": lambda a: a.describe_replica_log_dirs(
        [TopicPartitionReplica("t", 0, 1)]
    ),
    "alter_replica_log_dirs": lambda a: a.alter_replica_log_dirs(
        {TopicPartitionReplica("t", 0, 1): "/d"}
    ),
    "list_consumer_groups": lambda a: a.list_consumer_groups(),
    "list_consumer_groups by state": lambda a: a.list_consumer_groups(states=["Stable"]),
    "list_consumer_groups by type": lambda a: a.list_consumer_groups(types=["Consumer"]),
    "describe_consumer_groups": lambda a: a.describe_consumer_groups(["g", "h"]),
    "delete_consumer_groups": lambda a: a.delete_consumer_groups(["g", "h"]),
    "remove_members": lambda a: a.remove_members_from_consumer_group(
        "g", [MemberToRemove("i"), MemberToRemove(member_id="m")]
    ),
    "remove_members, one": lambda a: a.remove_members_from_consumer_group(
        "g", [MemberToRemove(member_id="m")]
    ),
    "remove_all_members": lambda a: a.remove_all_members_from_consumer_group("g"),
    "list_consumer_group_offsets": lambda a: a.list_consumer_group_offsets(
        {"g": [PLACE, OTHER], "h": None}
    ),
    "list_consumer_group_offsets that stay": lambda a: a.list_consumer_group_offsets(
        {"g": None}, require_stable=True
    ),
    "alter_consumer_group_offsets": lambda a: a.alter_consumer_group_offsets("g", {PLACE: OFFSET}),
    "delete_consumer_group_offsets": lambda a: a.delete_consumer_group_offsets("g", [PLACE]),
    "describe_producers": lambda a: a.describe_producers([PLACE]),
    "describe_producers of one": lambda a: a.describe_producers([PLACE], broker_id=2),
    "describe_transactions": lambda a: a.describe_transactions(["x"]),
    "list_transactions": lambda a: a.list_transactions(states=["Ongoing"], producer_ids=[4]),
    "list_transactions by age": lambda a: a.list_transactions(duration_ms=5),
    "abort_transaction": lambda a: a.abort_transaction(AbortTransactionSpec(PLACE, 4, 0, 0)),
    "fence_producers": lambda a: a.fence_producers(["x", "y"]),
    "describe_acls": lambda a: a.describe_acls(AclBindingFilter()),
    "create_acls": lambda a: a.create_acls([BINDING]),
    "delete_acls": lambda a: a.delete_acls([AclBindingFilter()]),
    "describe_client_quotas": lambda a: a.describe_client_quotas(ClientQuotaFilter()),
    "alter_client_quotas": lambda a: a.alter_client_quotas({ENTITY: [ClientQuotaOp("k", 1.0)]}),
    "describe_user_scram_credentials": lambda a: a.describe_user_scram_credentials(["alice"]),
    "alter_user_scram_credentials": lambda a: a.alter_user_scram_credentials(
        [
            UserScramCredentialUpsertion("alice", "hush", SHA_256),
            UserScramCredentialDeletion("bob", SHA_256),
        ]
    ),
    "create_delegation_token": lambda a: a.create_delegation_token(renewers=[ALICE]),
    "create_delegation_token for another": lambda a: a.create_delegation_token(owner=ALICE),
    "renew_delegation_token": lambda a: a.renew_delegation_token(b"h"),
    "expire_delegation_token": lambda a: a.expire_delegation_token(b"h"),
    "describe_delegation_token": lambda a: a.describe_delegation_token([ALICE]),
    "describe_cluster": lambda a: a.describe_cluster(),
    "describe_cluster with operations": lambda a: a.describe_cluster(
        include_authorized_operations=True
    ),
    "describe_features": lambda a: a.describe_features(),
    "update_features": lambda a: a.update_features(
        {"f": FeatureUpdate(1), "g": FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)}
    ),
    "update_features only to see": lambda a: a.update_features(
        {"f": FeatureUpdate(1)}, validate_only=True
    ),
}
