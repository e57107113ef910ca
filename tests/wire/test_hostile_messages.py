"""Bytes of a peer that is broken or hostile: a message, or one ProtocolError, in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logquake.wire.api import request_type
from logquake.wire.errors import ProtocolError
from logquake.wire.header import decode_request_header, decode_response
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrTopicState
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from logquake.wire.messages.offsets import DeleteRecordsRequest
from logquake.wire.messages.produce import ProduceRequest
from logquake.wire.messages.reassignment import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from logquake.wire.messages.topics import DeleteTopicsRequest
from logquake.wire.schema import Message, decode, encode


@given(frame=st.binary(max_size=100), key=st.integers(0, 70), version=st.integers(0, 20))
@settings(max_examples=500, deadline=None)
def test_a_hostile_frame_is_a_request_or_a_protocol_error(
    frame: bytes, key: int, version: int
) -> None:
    with suppress(ProtocolError):
        aimed = key.to_bytes(2, "big") + version.to_bytes(2, "big") + frame
        header, start = decode_request_header(memoryview(aimed))
        request = request_type(header.api_key)
        assert request is not None
        decode(request, header.api_version, memoryview(aimed), start)


@given(frame=st.binary(max_size=100), version=st.integers(0, 12))
@settings(max_examples=200, deadline=None)
def test_a_hostile_response_is_a_response_or_a_protocol_error(frame: bytes, version: int) -> None:
    with suppress(ProtocolError):
        decode_response(MetadataResponse, version, memoryview(frame))


CLAIMS = {
    "a count of two thousand million": (MetadataRequest, 1, b"\x7f\xff\xff\xff" + bytes(100)),
    "a compact count of four thousand million": (MetadataRequest, 9, b"\xff\xff\xff\xff\x0f"),
    "a varint without end": (MetadataRequest, 9, b"\x80" * 100),
    "records of two thousand million bytes": (
        ProduceRequest,
        3,
        b"\xff\xff\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\1\0\0\0\0\x7f\xff\xff\xff" + bytes(50),
    ),
    "a tagged field past the end": (DeleteRecordsRequest, 2, b"\1\0\0\0\0\1\5\x7f"),
    "tagged fields without end": (DeleteRecordsRequest, 2, b"\1\0\0\0\0\xff\xff\xff\xff\x07"),
    "a string longer than strings may be": (
        DeleteRecordsRequest,
        2,
        b"\2\x82\x80\x02" + b"a" * 0x8001 + b"\1\0\0\0\0\0\0",
    ),
    "a null that is not allowed": (DeleteRecordsRequest, 0, b"\xff\xff\xff\xff\0\0\0\0"),
}


@pytest.mark.parametrize(("cls", "version", "data"), CLAIMS.values(), ids=CLAIMS.keys())
def test_an_absurd_claim_is_refused(cls: type[Message], version: int, data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(cls, version, memoryview(data))


MANY = 10_000


def moved_to(replicas: Iterable[int]) -> ReassignableTopic:
    return ReassignableTopic(partitions=[ReassignablePartition(replicas=list(replicas))])


TINY_ELEMENTS: dict[str, tuple[Message, int]] = {
    "structs": (MetadataRequest(topics=[MetadataRequestTopic(name="")] * MANY), 9),
    "structs of lists": (LeaderAndIsrRequest(topic_states=[LeaderAndIsrTopicState()] * MANY), 4),
    "strings": (DeleteTopicsRequest(topic_names=[""] * MANY), 4),
    "numbers": (AlterPartitionReassignmentsRequest(topics=[moved_to(range(MANY))]), 0),
}


@pytest.mark.parametrize(("message", "version"), TINY_ELEMENTS.values(), ids=TINY_ELEMENTS)
def test_many_tiny_elements_are_refused_before_they_take_memory(
    message: Message, version: int
) -> None:
    data = encode(message, version)
    assert admitted(type(message), version, data, 16 << 20)  # and now the decoder is compiled
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError):
            decode(type(message), version, memoryview(data), max_decoded_bytes=100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000 + 2 * len(data)


@pytest.mark.parametrize(("message", "version"), TINY_ELEMENTS.values(), ids=TINY_ELEMENTS)
def test_what_is_charged_for_an_element_covers_what_it_takes(
    message: Message, version: int
) -> None:
    """The least budget that admits the message is no less than the memory it then takes."""
    data = encode(message, version)
    budget = smallest_budget(type(message), version, data)
    tracemalloc.start()
    try:
        decoded = decode(type(message), version, memoryview(data), max_decoded_bytes=budget)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert decoded == message
    assert taken <= budget + len(data)


def smallest_budget(cls: type[Message], version: int, data: bytes) -> int:
    low, high = 0, 16 << 20
    while high - low > 1 << 14:
        middle = (low + high) // 2
        if admitted(cls, version, data, middle):
            high = middle
        else:
            low = middle
    return high


def admitted(cls: type[Any], version: int, data: bytes, budget: int) -> bool:
    try:
        decode(cls, version, memoryview(data), max_decoded_bytes=budget)
    except ProtocolError:
        return False
    return True
