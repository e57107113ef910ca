"""The walk of a produced batch is as docs/architecture/produce.md draws it.

A leader behind a real socket and loop, on a disk in memory; its follower is the test. Every call is
noted, from the socket that becomes readable to the answer that is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random

import pytest

from logquake.node.authorizer.authorizer import AllowAll
from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from logquake.node.net.processor import Processor
from logquake.node.quotas.quotas import Quotas, QuotaSettings
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.requests.api_table import ApiTable
from logquake.node.requests.downward import DownConversion, DownConversionSettings
from logquake.node.requests.fetch import Fetch
from logquake.node.requests.pipelining import ProducePipelining
from logquake.node.requests.produce import Produce
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.wire.header import RequestHeader, encode_request
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message
from tests.docs.walks import calls_of, drawn, missed
from tests.doubles.journal import MemoryJournal
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.network import ScriptedNetwork
from tests.parts import joined

LEADER, FOLLOWER = 1, 2
LISTENER = ListenerName("PLAINTEXT")
DRAWN_IN = "docs/architecture/produce.md"
_MAX_PASSES = 200
# A produced batch is staged after so many files were entered and functions called. Whoever needs
# one more has a reason that a reader of the walk would give as well.
_MAX_FILES, _MAX_FUNCTIONS = 34, 86


class Leader:
    """It leads orders-0, which broker 2 follows."""

    def __init__(self) -> None:
        self.loop = EventLoop()
        self._metadata = MetadataCache(LISTENER)
        options = LogDirOptions(LEADER, "a-cluster", 0, lambda _topic: TopicConfig().log)
        network = ScriptedNetwork()
        journal = MemoryJournal()
        self._replicas = ReplicaManager(
            LEADER,
            ReplicationSettings(),
            log_dirs=LogDirs([open_log_dir(MemoryDisk(), "/data", options)]),
            scheduler=self.loop,
            workers=self.loop,
            network=network,
            journal=journal,
            random=Random(1),
            metadata=self._metadata,
            transaction_log=CoordinatorTopic(TRANSACTION_STATE_TOPIC, 1),
            broker_epoch=lambda: 1,
            controller=ControllerRequests(lambda: None, self.loop),
        )
        self._take_office()
        downward = DownConversion(self._replicas, self.loop, DownConversionSettings())
        quotas = Quotas(QuotaSettings(), self.loop, journal, lambda: 0)
        api = ApiTable(
            [
                Produce(
                    self._replicas.appends,
                    self._replicas.transactional_appends,
                    self._metadata,
                    ProducePipelining.IDEMPOTENT,
                    AllowAll(),
                ),
                Fetch(
                    self._replicas.sessions,
                    self._replicas.fetches,
                    self._metadata,
                    downward,
                    AllowAll(),
                    max_bytes=1 << 20,
                ),
            ],
            quotas,
        )
        self._processor = Processor(self.loop, api, ConnectionLimits(), journal)
        self.loop.at_end_of_pass(self._replicas.end_of_pass)
        self.producer, self.follower = self._connection(), self._connection()

    def close(self) -> None:
        self._processor.close()
        self._replicas.close()
        self.producer.close()
        self.follower.close()
        self.loop.close()

    def pass_until_answered(self, client: socket.socket) -> None:
        for _ in range(_MAX_PASSES):
            self.loop.run_pass(max_wait_ms=5)
            with suppress(BlockingIOError):
                if client.recv(1 << 20):
                    return
        pytest.fail("no answer")

    def _connection(self) -> socket.socket:
        client, accepted = socket.socketpair()
        for each in (client, accepted):
            each.setblocking(False)
        self._processor.adopt(accepted, ("127.0.0.1", 1), LISTENER, lambda: None)
        return client

    def _take_office(self) -> None:
        known = UpdateMetadataPartitionState(
            partition_index=0, leader=LEADER, isr=[LEADER, FOLLOWER], replicas=[LEADER, FOLLOWER]
        )
        topic = UpdateMetadataTopicState(topic_name="orders", partition_states=[known])
        live = [UpdateMetadataBroker(id=broker, endpoints=[]) for broker in (LEADER, FOLLOWER)]
        self._metadata.update(UpdateMetadataRequest(topic_states=[topic], live_brokers=live))
        state = LeaderAndIsrPartitionState(
            partition_index=0,
            leader=LEADER,
            leader_epoch=0,
            isr=[LEADER, FOLLOWER],
            replicas=[LEADER, FOLLOWER],
            is_new=True,
        )
        led = LeaderAndIsrTopicState(topic_name="orders", partition_states=[state])
        self._replicas.state_changes.apply_leader_and_isr(
            LeaderAndIsrRequest(topic_states=[led]), lambda _topic: TopicConfig(), lambda _: None
        )


@pytest.fixture
def leader() -> Iterator[Leader]:
    leader = Leader()
    yield leader
    leader.close()


def frame(request: Message, version: int) -> bytes:
    key = type(request).__schema__.key
    assert key is not None
    return joined(encode_request(RequestHeader(key, version, 1, "a client"), request))


def produce() -> ProduceRequest:
    batch = encode_batch([Record(0, 1, None, b"v", ())])
    data = PartitionProduceData(index=0, records=memoryview(batch))
    topic = TopicProduceData(name="orders", partition_data=[data])
    return ProduceRequest(acks=-1, timeout_ms=60_000, topic_data=[topic])


def fetch(offset: int) -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="orders", partitions=[asked])
    return FetchRequest(replica_id=FOLLOWER, max_wait_ms=0, max_bytes=1 << 20, topics=[topic])


def produce_and_follow(leader: Leader, offset: int) -> None:
    """One record, which gets that offset; it is answered when the follower asks for the next."""
    leader.producer.sendall(frame(produce(), 9))
    leader.loop.run_pass(max_wait_ms=5)
    leader.follower.sendall(frame(fetch(offset + 1), 11))
    leader.pass_until_answered(leader.producer)


def test_a_produced_batch_goes_the_way_that_is_drawn(leader: Leader) -> None:
    calls = calls_of(lambda: produce_and_follow(leader, 0))
    steps = list(drawn(DRAWN_IN))
    assert (len(steps) > 20, missed(steps, calls)) == (True, None)


def test_few_files_lie_between_the_socket_and_the_stage(
    leader: Leader, record_property: Callable[[str, object], None]
) -> None:
    produce_and_follow(leader, 0)  # what is made at the first batch of a log is made
    calls = calls_of(lambda: produce_and_follow(leader, 1))
    functions = [call.function for call in calls]
    way = calls[functions.index("Connection._receive") : functions.index("Staging.add") + 1]
    files, called = len({call.file for call in way}), len(set(way))
    record_property("files lie between the socket and the staged batch", files)
    record_property("functions are called between the socket and the staged batch", called)
    assert (files <= _MAX_FILES, called <= _MAX_FUNCTIONS) == (True, True), (files, called)
