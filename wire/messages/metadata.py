"""What clients learn about the cluster: brokers, controller, topics and leaders."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    boolean,
    int8,
    int16,
    int32,
    string,
    uuid,
)


class MetadataRequestTopic(Struct):
    topic_id: bytes = uuid("10+", ignorable=True)
    name: str | None = string(nullable="10+")


class MetadataRequest(Message, key=3, versions="0-12", flexible="9+"):
    """Brokers, controller, and the leaders of some topics or all.

    0: an empty list asks for all topics. 1: null asks for all, an empty list for none. 4:
    allow_auto_topic_creation. 8: authorized operations (KIP-430). 9: flexible. 10: topic ids
    (KIP-516), which are honoured from 12 on. 11: no authorized operations of the cluster, see
    DescribeCluster (KIP-700).
    """

    topics: list[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable="1+")
    allow_auto_topic_creation: bool = boolean("4+", default=True)
    include_cluster_authorized_operations: bool = boolean("8-10")
    include_topic_authorized_operations: bool = boolean("8+")


class MetadataResponseBroker(Struct):
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string("1+", nullable="1+", default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32("7+", default=-1, ignorable=True)
    replica_nodes: list[int] = array(int32)
    isr_nodes: list[int] = array(int32)
    offline_replicas: list[int] = array(int32, "5+", ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: int = int16()
    name: str | None = string(nullable="12+")
    topic_id: bytes = uuid("10+", ignorable=True)
    is_internal: bool = boolean("1+", ignorable=True)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition)
    topic_authorized_operations: int = int32("8+", default=-2147483648)


class MetadataResponse(Message, key=3, versions="0-12", flexible="9+"):
    """The cluster as one broker knows it.

    1: racks, controller_id, is_internal. 2: cluster_id (KIP-78). 3: throttle time. 5:
    offline_replicas (KIP-112). 7: leader_epoch (KIP-320). 8: authorized operations (KIP-430).
    9: flexible. 10: topic_id (KIP-516). 12: the name is null for an id that is not known.
    """

    throttle_time_ms: int = int32("3+", ignorable=True)
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker)
    cluster_id: str | None = string("2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = int32("1+", default=-1, ignorable=True)
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic)
    cluster_authorized_operations: int = int32("8-10", default=-2147483648)


class DescribeClusterRequest(Message, key=60, versions="0-1", flexible="0+"):
    """Brokers and controller, without topics (KIP-700).

    1: endpoint_type, brokers or KRaft controllers (KIP-919).
    """

    include_cluster_authorized_operations: bool = boolean()
    endpoint_type: int = int8("1+", default=1)


class DescribeClusterBroker(Struct):
    broker_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


class DescribeClusterResponse(Message, key=60, versions="0-1", flexible="0+"):
    """The cluster's id, controller and brokers.

    1: endpoint_type (KIP-919).
    """

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    endpoint_type: int = int8("1+", default=1)
    cluster_id: str = string()
    controller_id: int = int32(default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker)
    cluster_authorized_operations: int = int32(default=-2147483648)
