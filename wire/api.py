"""Every API of a ZooKeeper-mode Kafka 3.9 broker, and the messages that it consists of."""

from __future__ import annotations

from enum import IntEnum

from logquake.wire.messages import (
    acls,
    api_versions,
    broker_to_controller,
    configs,
    consumer_group,
    delegation_tokens,
    envelope,
    fetch,
    find_coordinator,
    group_admin,
    group_membership,
    group_offsets,
    leader_and_isr,
    log_dirs,
    metadata,
    offsets,
    produce,
    quotas,
    reassignment,
    sasl,
    scram,
    stop_replica,
    topics,
    transaction_admin,
    transaction_commit,
    transactions,
    update_metadata,
)
from logquake.wire.schema import Message


class ApiKey(IntEnum):
    """The number that opens a request (org.apache.kafka.common.protocol.ApiKeys)."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69


# What a broker may put into an envelope for the controller (KIP-590; ApiKeys.forwardable).
FORWARDABLE = frozenset(
    {
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.ELECT_LEADERS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.UPDATE_FEATURES,
        ApiKey.ALLOCATE_PRODUCER_IDS,
    }
)


def request_type(key: int) -> type[Message] | None:
    """The request's class, which knows its versions; None for a key that is not served."""
    types = _TYPES.get(key)
    return types and types[0]


def response_type(key: int) -> type[Message] | None:
    types = _TYPES.get(key)
    return types and types[1]


def api_name(key: ApiKey) -> str:
    """As its messages and Kafka's documents call it: LeaderAndIsr."""
    return _TYPES[key][0].__name__.removesuffix("Request")


def api_named(name: str) -> ApiKey:
    """Raises ValueError; whether letters are large does not matter."""
    for key in ApiKey:
        if api_name(key).lower() == name.lower():
            return key
    raise ValueError(f"{name!r} is no API of Kafka's: write {', '.join(map(api_name, ApiKey))}")


_TYPES: dict[int, tuple[type[Message], type[Message]]] = {
    ApiKey.PRODUCE: (produce.ProduceRequest, produce.ProduceResponse),
    ApiKey.FETCH: (fetch.FetchRequest, fetch.FetchResponse),
    ApiKey.LIST_OFFSETS: (offsets.ListOffsetsRequest, offsets.ListOffsetsResponse),
    ApiKey.METADATA: (metadata.MetadataRequest, metadata.MetadataResponse),
    ApiKey.LEADER_AND_ISR: (
        leader_and_isr.LeaderAndIsrRequest,
        leader_and_isr.LeaderAndIsrResponse,
    ),
    ApiKey.STOP_REPLICA: (stop_replica.StopReplicaRequest, stop_replica.StopReplicaResponse),
    ApiKey.UPDATE_METADATA: (
        update_metadata.UpdateMetadataRequest,
        update_metadata.UpdateMetadataResponse,
    ),
    ApiKey.CONTROLLED_SHUTDOWN: (
        broker_to_controller.ControlledShutdownRequest,
        broker_to_controller.ControlledShutdownResponse,
    ),
    ApiKey.OFFSET_COMMIT: (group_offsets.OffsetCommitRequest, group_offsets.OffsetCommitResponse),
    ApiKey.OFFSET_FETCH: (group_offsets.OffsetFetchRequest, group_offsets.OffsetFetchResponse),
    ApiKey.FIND_COORDINATOR: (
        find_coordinator.FindCoordinatorRequest,
        find_coordinator.FindCoordinatorResponse,
    ),
    ApiKey.JOIN_GROUP: (group_membership.JoinGroupRequest, group_membership.JoinGroupResponse),
    ApiKey.HEARTBEAT: (group_membership.HeartbeatRequest, group_membership.HeartbeatResponse),
    ApiKey.LEAVE_GROUP: (group_membership.LeaveGroupRequest, group_membership.LeaveGroupResponse),
    ApiKey.SYNC_GROUP: (group_membership.SyncGroupRequest, group_membership.SyncGroupResponse),
    ApiKey.DESCRIBE_GROUPS: (group_admin.DescribeGroupsRequest, group_admin.DescribeGroupsResponse),
    ApiKey.LIST_GROUPS: (group_admin.ListGroupsRequest, group_admin.ListGroupsResponse),
    ApiKey.SASL_HANDSHAKE: (sasl.SaslHandshakeRequest, sasl.SaslHandshakeResponse),
    ApiKey.API_VERSIONS: (api_versions.ApiVersionsRequest, api_versions.ApiVersionsResponse),
    ApiKey.CREATE_TOPICS: (topics.CreateTopicsRequest, topics.CreateTopicsResponse),
    ApiKey.DELETE_TOPICS: (topics.DeleteTopicsRequest, topics.DeleteTopicsResponse),
    ApiKey.DELETE_RECORDS: (offsets.DeleteRecordsRequest, offsets.DeleteRecordsResponse),
    ApiKey.INIT_PRODUCER_ID: (
        transactions.InitProducerIdRequest,
        transactions.InitProducerIdResponse,
    ),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (
        offsets.OffsetForLeaderEpochRequest,
        offsets.OffsetForLeaderEpochResponse,
    ),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        transactions.AddPartitionsToTxnRequest,
        transactions.AddPartitionsToTxnResponse,
    ),
    ApiKey.ADD_OFFSETS_TO_TXN: (
        transactions.AddOffsetsToTxnRequest,
        transactions.AddOffsetsToTxnResponse,
    ),
    ApiKey.END_TXN: (transactions.EndTxnRequest, transactions.EndTxnResponse),
    ApiKey.WRITE_TXN_MARKERS: (
        transaction_commit.WriteTxnMarkersRequest,
        transaction_commit.WriteTxnMarkersResponse,
    ),
    ApiKey.TXN_OFFSET_COMMIT: (
        transaction_commit.TxnOffsetCommitRequest,
        transaction_commit.TxnOffsetCommitResponse,
    ),
    ApiKey.DESCRIBE_ACLS: (acls.DescribeAclsRequest, acls.DescribeAclsResponse),
    ApiKey.CREATE_ACLS: (acls.CreateAclsRequest, acls.CreateAclsResponse),
    ApiKey.DELETE_ACLS: (acls.DeleteAclsRequest, acls.DeleteAclsResponse),
    ApiKey.DESCRIBE_CONFIGS: (configs.DescribeConfigsRequest, configs.DescribeConfigsResponse),
    ApiKey.ALTER_CONFIGS: (configs.AlterConfigsRequest, configs.AlterConfigsResponse),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (
        log_dirs.AlterReplicaLogDirsRequest,
        log_dirs.AlterReplicaLogDirsResponse,
    ),
    ApiKey.DESCRIBE_LOG_DIRS: (log_dirs.DescribeLogDirsRequest, log_dirs.DescribeLogDirsResponse),
    ApiKey.SASL_AUTHENTICATE: (sasl.SaslAuthenticateRequest, sasl.SaslAuthenticateResponse),
    ApiKey.CREATE_PARTITIONS: (topics.CreatePartitionsRequest, topics.CreatePartitionsResponse),
    ApiKey.CREATE_DELEGATION_TOKEN: (
        delegation_tokens.CreateDelegationTokenRequest,
        delegation_tokens.CreateDelegationTokenResponse,
    ),
    ApiKey.RENEW_DELEGATION_TOKEN: (
        delegation_tokens.RenewDelegationTokenRequest,
        delegation_tokens.RenewDelegationTokenResponse,
    ),
    ApiKey.EXPIRE_DELEGATION_TOKEN: (
        delegation_tokens.ExpireDelegationTokenRequest,
        delegation_tokens.ExpireDelegationTokenResponse,
    ),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (
        delegation_tokens.DescribeDelegationTokenRequest,
        delegation_tokens.DescribeDelegationTokenResponse,
    ),
    ApiKey.DELETE_GROUPS: (group_admin.DeleteGroupsRequest, group_admin.DeleteGroupsResponse),
    ApiKey.ELECT_LEADERS: (reassignment.ElectLeadersRequest, reassignment.ElectLeadersResponse),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (
        configs.IncrementalAlterConfigsRequest,
        configs.IncrementalAlterConfigsResponse,
    ),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (
        reassignment.AlterPartitionReassignmentsRequest,
        reassignment.AlterPartitionReassignmentsResponse,
    ),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (
        reassignment.ListPartitionReassignmentsRequest,
        reassignment.ListPartitionReassignmentsResponse,
    ),
    ApiKey.OFFSET_DELETE: (group_offsets.OffsetDeleteRequest, group_offsets.OffsetDeleteResponse),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: (
        quotas.DescribeClientQuotasRequest,
        quotas.DescribeClientQuotasResponse,
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: (quotas.AlterClientQuotasRequest, quotas.AlterClientQuotasResponse),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (
        scram.DescribeUserScramCredentialsRequest,
        scram.DescribeUserScramCredentialsResponse,
    ),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (
        scram.AlterUserScramCredentialsRequest,
        scram.AlterUserScramCredentialsResponse,
    ),
    ApiKey.ALTER_PARTITION: (
        broker_to_controller.AlterPartitionRequest,
        broker_to_controller.AlterPartitionResponse,
    ),
    ApiKey.UPDATE_FEATURES: (
        api_versions.UpdateFeaturesRequest,
        api_versions.UpdateFeaturesResponse,
    ),
    ApiKey.ENVELOPE: (envelope.EnvelopeRequest, envelope.EnvelopeResponse),
    ApiKey.DESCRIBE_CLUSTER: (metadata.DescribeClusterRequest, metadata.DescribeClusterResponse),
    ApiKey.DESCRIBE_PRODUCERS: (
        transaction_admin.DescribeProducersRequest,
        transaction_admin.DescribeProducersResponse,
    ),
    ApiKey.DESCRIBE_TRANSACTIONS: (
        transaction_admin.DescribeTransactionsRequest,
        transaction_admin.DescribeTransactionsResponse,
    ),
    ApiKey.LIST_TRANSACTIONS: (
        transaction_admin.ListTransactionsRequest,
        transaction_admin.ListTransactionsResponse,
    ),
    ApiKey.ALLOCATE_PRODUCER_IDS: (
        broker_to_controller.AllocateProducerIdsRequest,
        broker_to_controller.AllocateProducerIdsResponse,
    ),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (
        consumer_group.ConsumerGroupHeartbeatRequest,
        consumer_group.ConsumerGroupHeartbeatResponse,
    ),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (
        consumer_group.ConsumerGroupDescribeRequest,
        consumer_group.ConsumerGroupDescribeResponse,
    ),
}
