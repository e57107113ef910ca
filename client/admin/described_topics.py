"""Topics: listed and described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from logquake.client.admin.asking.asks import ANYBODY, Ask, Asks, Reply, Terms
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.client.admin.operations import Operations, operations_of
from logquake.client.errors import ClientError, UnsupportedVersionError, broker_error
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import nodes_told
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.schema import Message
from logquake.wire.uuids import encode_uuid

_NONE_MADE_SINCE = 4  # before it, any request for a topic may create it
_NULL_FOR_ALL_SINCE = 1
_BY_ID_SINCE = 12


@dataclass(frozen=True, slots=True)
class TopicListing:
    name: str
    topic_id: bytes  # ZERO_UUID from brokers without topic ids
    is_internal: bool


@dataclass(frozen=True, slots=True)
class TopicPartitionInfo:
    """``leader`` is None if there is none. Of a broker that is down only the id is known: its host
    is "".

    Kafka's class lacks ``leader_epoch``, NO_LEADER_EPOCH if not reported, and ``offline``, the
    replicas on failed disks or brokers.
    """

    partition: int
    leader: Node | None
    replicas: tuple[Node, ...]
    isr: tuple[Node, ...]
    leader_epoch: int
    offline: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """``authorized_operations`` is None if not requested."""

    name: str
    topic_id: bytes
    is_internal: bool
    partitions: tuple[TopicPartitionInfo, ...]  # in order
    authorized_operations: Operations


def list_topics(results: Results[None, Mapping[str, TopicListing]], *, list_internal: bool) -> Asks:
    reply: Reply[MetadataResponse] = yield Ask(ANYBODY, MetadataResponse, _about_all)
    results.settle(
        None,
        {
            each.name: TopicListing(each.name, each.topic_id, each.is_internal)
            for each in reply.message.topics
            if each.name and (list_internal or not each.is_internal)
        },
    )


def _about_all(terms: Terms) -> MetadataRequest:
    return MetadataRequest(topics=None if terms.version >= _NULL_FOR_ALL_SINCE else [])


def describe_topics(
    names: Sequence[str],
    results: Results[str, TopicDescription],
    *,
    include_authorized_operations: bool,
) -> Asks:
    def request(terms: Terms) -> Message:
        if terms.version < _NONE_MADE_SINCE:
            return _about_all(terms)
        return MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in names],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=include_authorized_operations,
        )

    reply: Reply[MetadataResponse] = yield Ask(ANYBODY, MetadataResponse, request)
    nodes = nodes_told(reply.message)
    told = {each.name: each for each in reply.message.topics}
    for name in names:
        results.settle(name, _outcome(told.get(name), f"topic {name}", nodes))


def describe_topics_by_id(
    topic_ids: Sequence[bytes],
    results: Results[bytes, TopicDescription],
    *,
    include_authorized_operations: bool,
) -> Asks:
    def request(terms: Terms) -> Message:
        if terms.version < _BY_ID_SINCE:
            raise UnsupportedVersionError("the broker knows topics by name alone (KIP-516)")
        return MetadataRequest(
            topics=[MetadataRequestTopic(name=None, topic_id=each) for each in topic_ids],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=include_authorized_operations,
        )

    reply: Reply[MetadataResponse] = yield Ask(ANYBODY, MetadataResponse, request)
    nodes = nodes_told(reply.message)
    told = {each.topic_id: each for each in reply.message.topics}
    for topic_id in topic_ids:
        what = f"topic of id {encode_uuid(topic_id)}"
        outcome = _outcome(told.get(topic_id), what, nodes, missing=ErrorCode.UNKNOWN_TOPIC_ID)
        results.settle(topic_id, outcome)


def _outcome(
    topic: MetadataResponseTopic | None,
    what: str,
    nodes: Mapping[int, Node],
    missing: ErrorCode = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
) -> TopicDescription | ClientError:
    if topic is None:
        return broker_error(missing, what)
    return refusal(topic.error_code, what) or _description(topic, nodes)


def _description(topic: MetadataResponseTopic, nodes: Mapping[int, Node]) -> TopicDescription:
    partitions = sorted(topic.partitions, key=lambda each: each.partition_index)
    return TopicDescription(
        topic.name or "",
        topic.topic_id,
        topic.is_internal,
        tuple(_partition(each, nodes) for each in partitions),
        operations_of(topic.topic_authorized_operations),
    )


def _partition(told: MetadataResponsePartition, nodes: Mapping[int, Node]) -> TopicPartitionInfo:
    return TopicPartitionInfo(
        told.partition_index,
        nodes.get(told.leader_id),
        _nodes(told.replica_nodes, nodes),
        _nodes(told.isr_nodes, nodes),
        told.leader_epoch,
        _nodes(told.offline_replicas, nodes),
    )


def _nodes(ids: Iterable[int], nodes: Mapping[int, Node]) -> tuple[Node, ...]:
    return tuple(nodes.get(each) or Node(each, "", -1) for each in ids)
