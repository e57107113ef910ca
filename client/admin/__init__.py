"""The admin client, without I/O (org.apache.kafka.clients.admin.Admin).

    administering.py  the admin client as a program uses it
    calls/            the methods that a program calls
    signatures.py     checks a call's arguments against its signature
    asking/           how a call's requests reach brokers, and are retried until the deadline

The calls themselves, each with the values that go in and come out:

    cluster.py     brokers, controller, features
    topics.py      topics created, grown, deleted; described_topics.py: listed and described
    configs.py     configurations of topics, brokers and loggers
    acls.py        ACLs; operations.py: what the caller may do
    log_dirs.py    log directories, and moves between them
    reassignments.py   leader elections, and moves between brokers
    offsets.py     offsets listed, and records deleted
    producers.py   the producers of partitions
    groups.py      consumer groups; described_groups.py: described
    group_offsets.py   committed offsets of groups
    transactions.py    transactions listed and described, and producers fenced
    quotas.py, scram.py, tokens.py   quotas, and credentials of clients

A call is a generator that yields its requests. It knows neither time nor connections.

This package exports the values that programs pass in and get back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from logquake.client.lazy_exports import lazily

if TYPE_CHECKING:
    from logquake.client.admin.acls import AclBindingFilter as AclBindingFilter
    from logquake.client.admin.acls import DeletedAcl as DeletedAcl
    from logquake.client.admin.asking.by_broker import ByBroker as ByBroker
    from logquake.client.admin.cluster import ClusterDescription as ClusterDescription
    from logquake.client.admin.cluster import FeatureMetadata as FeatureMetadata
    from logquake.client.admin.cluster import FeatureUpdate as FeatureUpdate
    from logquake.client.admin.cluster import UpgradeType as UpgradeType
    from logquake.client.admin.cluster import VersionRange as VersionRange
    from logquake.client.admin.configs import AlterConfigOp as AlterConfigOp
    from logquake.client.admin.configs import Config as Config
    from logquake.client.admin.configs import ConfigEntry as ConfigEntry
    from logquake.client.admin.configs import ConfigResource as ConfigResource
    from logquake.client.admin.configs import ConfigResourceType as ConfigResourceType
    from logquake.client.admin.configs import ConfigSource as ConfigSource
    from logquake.client.admin.configs import ConfigSynonym as ConfigSynonym
    from logquake.client.admin.configs import ConfigType as ConfigType
    from logquake.client.admin.configs import OpType as OpType
    from logquake.client.admin.described_groups import (
        ConsumerGroupDescription as ConsumerGroupDescription,
    )
    from logquake.client.admin.described_groups import MemberDescription as MemberDescription
    from logquake.client.admin.described_topics import TopicDescription as TopicDescription
    from logquake.client.admin.described_topics import TopicListing as TopicListing
    from logquake.client.admin.described_topics import TopicPartitionInfo as TopicPartitionInfo
    from logquake.client.admin.groups import ConsumerGroupListing as ConsumerGroupListing
    from logquake.client.admin.groups import MemberToRemove as MemberToRemove
    from logquake.client.admin.log_dirs import LogDirDescription as LogDirDescription
    from logquake.client.admin.log_dirs import ReplicaInfo as ReplicaInfo
    from logquake.client.admin.log_dirs import ReplicaLogDirInfo as ReplicaLogDirInfo
    from logquake.client.admin.log_dirs import TopicPartitionReplica as TopicPartitionReplica
    from logquake.client.admin.offsets import DeletedRecords as DeletedRecords
    from logquake.client.admin.offsets import ListOffsetsResultInfo as ListOffsetsResultInfo
    from logquake.client.admin.offsets import OffsetSpec as OffsetSpec
    from logquake.client.admin.producers import AbortTransactionSpec as AbortTransactionSpec
    from logquake.client.admin.producers import ProducerState as ProducerState
    from logquake.client.admin.quotas import ClientQuotaEntity as ClientQuotaEntity
    from logquake.client.admin.quotas import ClientQuotaFilter as ClientQuotaFilter
    from logquake.client.admin.quotas import (
        ClientQuotaFilterComponent as ClientQuotaFilterComponent,
    )
    from logquake.client.admin.quotas import ClientQuotaOp as ClientQuotaOp
    from logquake.client.admin.reassignments import ElectionType as ElectionType
    from logquake.client.admin.reassignments import PartitionReassignment as PartitionReassignment
    from logquake.client.admin.scram import ScramCredentialInfo as ScramCredentialInfo
    from logquake.client.admin.scram import (
        UserScramCredentialDeletion as UserScramCredentialDeletion,
    )
    from logquake.client.admin.scram import (
        UserScramCredentialUpsertion as UserScramCredentialUpsertion,
    )
    from logquake.client.admin.tokens import DelegationToken as DelegationToken
    from logquake.client.admin.topics import CreatedTopic as CreatedTopic
    from logquake.client.admin.topics import NewPartitions as NewPartitions
    from logquake.client.admin.topics import NewTopic as NewTopic
    from logquake.client.admin.transactions import ProducerIdAndEpoch as ProducerIdAndEpoch
    from logquake.client.admin.transactions import TransactionDescription as TransactionDescription
    from logquake.client.admin.transactions import TransactionListing as TransactionListing
    from logquake.client.consumer.offsets import OffsetAndMetadata as OffsetAndMetadata
    from logquake.client.isolation import Isolation as Isolation
    from logquake.client.network.effects import Node as Node
    from logquake.wire.acls import AccessControlEntry as AccessControlEntry
    from logquake.wire.acls import AclBinding as AclBinding
    from logquake.wire.acls import AclOperation as AclOperation
    from logquake.wire.acls import AclPermissionType as AclPermissionType
    from logquake.wire.acls import PatternType as PatternType
    from logquake.wire.acls import ResourcePattern as ResourcePattern
    from logquake.wire.acls import ResourceType as ResourceType
    from logquake.wire.principals import KafkaPrincipal as KafkaPrincipal
    from logquake.wire.sasl.scram_mechanism import ScramMechanism as ScramMechanism
    from logquake.wire.sentinels import HIGH_WATERMARK as HIGH_WATERMARK
    from logquake.wire.topic_partition import TopicPartition as TopicPartition

# Loaded on first use, each with its module.
_HANDED_OUT = {
    "acls": ("AclBindingFilter", "DeletedAcl"),
    "asking.by_broker": ("ByBroker",),
    "cluster": (
        "ClusterDescription",
        "FeatureMetadata",
        "FeatureUpdate",
        "UpgradeType",
        "VersionRange",
    ),
    "configs": (
        "AlterConfigOp",
        "Config",
        "ConfigEntry",
        "ConfigResource",
        "ConfigResourceType",
        "ConfigSource",
        "ConfigSynonym",
        "ConfigType",
        "OpType",
    ),
    "described_groups": ("ConsumerGroupDescription", "MemberDescription"),
    "described_topics": ("TopicDescription", "TopicListing", "TopicPartitionInfo"),
    "groups": ("ConsumerGroupListing", "MemberToRemove"),
    "log_dirs": ("LogDirDescription", "ReplicaInfo", "ReplicaLogDirInfo", "TopicPartitionReplica"),
    "offsets": ("DeletedRecords", "ListOffsetsResultInfo", "OffsetSpec"),
    "producers": ("AbortTransactionSpec", "ProducerState"),
    "quotas": (
        "ClientQuotaEntity",
        "ClientQuotaFilter",
        "ClientQuotaFilterComponent",
        "ClientQuotaOp",
    ),
    "reassignments": ("ElectionType", "PartitionReassignment"),
    "scram": ("ScramCredentialInfo", "UserScramCredentialDeletion", "UserScramCredentialUpsertion"),
    "tokens": ("DelegationToken",),
    "topics": ("CreatedTopic", "NewPartitions", "NewTopic"),
    "transactions": ("ProducerIdAndEpoch", "TransactionDescription", "TransactionListing"),
}
_FROM_ELSEWHERE = {
    "logquake.client.isolation": ("Isolation",),
    "logquake.client.network.effects": ("Node",),
    "logquake.wire.acls": (
        "AccessControlEntry",
        "AclBinding",
        "AclOperation",
        "AclPermissionType",
        "PatternType",
        "ResourcePattern",
        "ResourceType",
    ),
    "logquake.wire.principals": ("KafkaPrincipal",),
    "logquake.wire.sasl.scram_mechanism": ("ScramMechanism",),
    "logquake.wire.sentinels": ("HIGH_WATERMARK",),
    "logquake.client.consumer.offsets": ("OffsetAndMetadata",),
    "logquake.wire.topic_partition": ("TopicPartition",),
}
_MODULES = {
    **{name: f"{__name__}.{module}" for module, names in _HANDED_OUT.items() for name in names},
    **{name: module for module, names in _FROM_ELSEWHERE.items() for name in names},
}
__all__ = sorted(_MODULES)  # noqa: PLE0605
__getattr__, __dir__ = lazily(__name__, _MODULES)
