"""What clients ask and are answered, written down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.conversation import Conversation
from logquake.cluster.links.requests.rules import RuleBook
from logquake.cluster.links.requests.watching import Watch, Watches, Witness
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, encode_request, encode_response
from logquake.wire.messages.group_membership import JoinGroupRequest, JoinGroupResponse
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message
from tests.parts import joined

VERSIONS = {ApiKey.PRODUCE: 9, ApiKey.JOIN_GROUP: 5, ApiKey.METADATA: 1}


class Watched:
    """A client that asks broker 1, and a watch on it; a microsecond passes with every look."""

    def __init__(self, file: Path) -> None:
        self._file = file
        watch = Watch(str(file))
        watch.make_file()
        self.watches = Watches(count(1).__next__)
        self.watches.hold({1: watch})
        self.witness = Witness(self.watches, "clients", "broker-1")
        self._conversation = Conversation("clients", "broker-1", RuleBook(), self.witness)

    def asks(self, key: ApiKey, body: Message, correlation_id: int = 1) -> None:
        header = RequestHeader(key, VERSIONS[key], correlation_id, "an-app")
        self._conversation.receive(Way.REQUESTS, joined(encode_request(header, body)), 0)

    def is_answered(self, key: ApiKey, body: Message, correlation_id: int = 1) -> None:
        answer = joined(encode_response(correlation_id, body, VERSIONS[key]))
        self._conversation.receive(Way.RESPONSES, answer, 0)

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._file.read_text().splitlines()]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path / "links.jsonl")
    yield watched
    watched.watches.hold({})


def produce(acks: int = -1) -> ProduceRequest:
    records = bytes(encode_batch([Record(0, 5, None, b"one"), Record(1, 5, None, b"two")]))
    partitions = [PartitionProduceData(index=index, records=records) for index in range(2)]
    topic = TopicProduceData(name="orders", partition_data=partitions)
    return ProduceRequest(acks=acks, topic_data=[topic])


def test_a_row_says_what_was_asked_and_what_became_of_it(watched: Watched) -> None:
    watched.asks(ApiKey.PRODUCE, produce())
    assert watched.rows() == []
    answers = [
        PartitionProduceResponse(index=0, error_code=ErrorCode.NONE, base_offset=812),
        PartitionProduceResponse(index=1, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ]
    topic = TopicProduceResponse(name="orders", partition_responses=answers)
    watched.is_answered(ApiKey.PRODUCE, ProduceResponse(responses=[topic]))
    (row,) = watched.rows()
    crc = row["before"]["batches"][0][1]
    assert row == {
        "at_us": 2,
        "process": "links",
        "sequence": 1,
        "what": "exchanged",
        "subject": "Produce",
        "key": "an-app",
        "before": {
            "asked_us": 1,
            "connection": 1,
            "to": "broker-1",
            "version": 9,
            "batches": [["orders-0", crc, 2], ["orders-1", crc, 2]],
        },
        "after": {"errors": {"NOT_LEADER_OR_FOLLOWER": 1}, "offsets": {"orders-0": 812}},
        "why": None,
    }


def test_what_nobody_answered_is_told_when_its_connection_is_over(watched: Watched) -> None:
    watched.asks(ApiKey.METADATA, MetadataRequest(topics=None))
    watched.witness.over()
    watched.witness.over()
    (row,) = watched.rows()
    assert (row["subject"], row["after"], row["why"]) == ("Metadata", None, "no answer")


def test_a_produce_that_wants_no_answer_is_told_at_once(watched: Watched) -> None:
    watched.asks(ApiKey.PRODUCE, produce(acks=0))
    (row,) = watched.rows()
    assert (row["after"], row["why"]) == ({}, None)


def test_generations_of_groups_are_told(watched: Watched) -> None:
    watched.asks(ApiKey.JOIN_GROUP, JoinGroupRequest(group_id="readers", member_id="m"))
    watched.is_answered(ApiKey.JOIN_GROUP, JoinGroupResponse(generation_id=3, protocol_name="r"))
    (row,) = watched.rows()
    assert (row["before"]["group"], row["after"]) == ("readers", {"generation": 3})


def test_nothing_is_kept_of_what_nobody_watches(watched: Watched) -> None:
    watched.watches.hold({})
    watched.asks(ApiKey.METADATA, MetadataRequest(topics=None))
    watched.witness.over()
    assert watched.rows() == []


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="no exchanges can be written to"):
        Watch(str(tmp_path)).make_file()
