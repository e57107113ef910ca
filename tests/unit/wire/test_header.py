from __future__ import annotations

import pytest

from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import (
    RequestHeader,
    UnsupportedVersion,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.messages.broker_to_controller import ControlledShutdownRequest
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from logquake.wire.messages.group_membership import HeartbeatRequest, HeartbeatResponse
from logquake.wire.schema import Message


class LogSlice:
    """Stands for records in a file: only their length is known."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size


def request_bytes(header: RequestHeader, message: Message) -> bytes:
    (whole,) = encode_request(header, message)
    assert isinstance(whole, bytes)
    assert int.from_bytes(whole[:4], "big") == len(whole) - 4
    return whole[4:]


@pytest.mark.parametrize(
    ("header", "message", "before_the_body"),
    [
        (RequestHeader(12, 0, 7, "me"), HeartbeatRequest(), "000c 0000 00000007 0002 6d65"),
        (RequestHeader(12, 0, 7, None), HeartbeatRequest(), "000c 0000 00000007 ffff"),
        (RequestHeader(12, 4, 7, "me"), HeartbeatRequest(), "000c 0004 00000007 0002 6d65 00"),
        (RequestHeader(12, 4, 7, ""), HeartbeatRequest(), "000c 0004 00000007 0000 00"),
        (RequestHeader(7, 0, 7, None), ControlledShutdownRequest(), "0007 0000 00000007"),
        (RequestHeader(7, 1, 7, "me"), ControlledShutdownRequest(), "0007 0001 00000007 0002 6d65"),
    ],
    ids=["v1", "v1 without client id", "v2", "v2, empty client id", "v0", "shutdown 1"],
)
def test_each_generation_of_request_header(
    header: RequestHeader, message: Message, before_the_body: str
) -> None:
    expected = bytes.fromhex(before_the_body)
    frame = request_bytes(header, message)
    assert frame.startswith(expected)
    assert decode_request_header(memoryview(frame)) == (header, len(expected))


def test_a_header_is_read_from_the_middle_of_a_buffer() -> None:
    header = RequestHeader(12, 4, 1, "client")
    frame = b"earlier" + request_bytes(header, HeartbeatRequest())
    assert decode_request_header(memoryview(frame), 7) == (header, 7 + 8 + 2 + 6 + 1)


def test_tagged_fields_of_a_header_are_skipped() -> None:
    frame = bytes.fromhex("000c 0004 00000007 ffff 02 00 03 616263 05 00")
    assert decode_request_header(memoryview(frame)) == (RequestHeader(12, 4, 7), len(frame))


@pytest.mark.parametrize(("key", "version"), [(12, 5), (12, -1), (999, 0), (-1, 0), (18, 99)])
def test_an_unknown_key_or_version_carries_its_header(key: int, version: int) -> None:
    header = RequestHeader(key, version, 42, "someone")
    frame = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    frame += bytes.fromhex("0000002a 0007") + b"someone" + b"\0"
    with pytest.raises(UnsupportedVersion) as caught:
        decode_request_header(memoryview(frame))
    assert caught.value.header == header


def test_an_unknown_version_whose_client_id_makes_no_sense_still_has_a_header() -> None:
    with pytest.raises(UnsupportedVersion) as caught:
        decode_request_header(memoryview(bytes.fromhex("03e7 0000 0000002a 7fff")))
    assert caught.value.header == RequestHeader(999, 0, 42, None)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "000c 0004 000000",
        "000c 0004 00000007",
        "000c 0004 00000007 0005 6161",
        "000c 0004 00000007 ffff",
        "000c 0004 00000007 ffff 01 00 7f",
    ],
)
def test_bytes_that_are_no_header(frame: str) -> None:
    with pytest.raises(ProtocolError):
        decode_request_header(memoryview(bytes.fromhex(frame)))


def test_a_client_id_that_is_not_utf_8_reads_as_in_java() -> None:
    header, _ = decode_request_header(bytes.fromhex("000c 0004 00000007 0002 c328 00"))
    assert header.client_id == "\ufffd("


def test_a_response_header_is_flexible_with_its_message() -> None:
    for version, header in ((3, "00000007"), (4, "00000007 00")):
        (whole,) = encode_response(7, HeartbeatResponse(), version)
        assert isinstance(whole, bytes)
        assert whole[4:].startswith(bytes.fromhex(header))
        correlation_id, message = decode_response(HeartbeatResponse, version, whole[4:])
        assert (correlation_id, message) == (7, HeartbeatResponse())


def test_an_api_versions_response_never_has_a_flexible_header() -> None:
    response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    (whole,) = encode_response(7, response, 3)
    assert isinstance(whole, bytes)
    assert whole[4:10] == bytes.fromhex("00000007 0023")
    assert decode_response(ApiVersionsResponse, 3, whole[4:]) == (7, response)


def test_an_api_versions_request_does_have_one() -> None:
    header = RequestHeader(ApiKey.API_VERSIONS, 3, 1, "c")
    assert request_bytes(header, ApiVersionsRequest())[10:12] == b"c\0"


def test_the_length_in_front_counts_records_that_are_elsewhere() -> None:
    records = LogSlice(1 << 20)
    topic = FetchableTopicResponse(topic="t", partitions=[PartitionData(records=records)])
    first, middle, last = encode_response(1, FetchResponse(responses=[topic]), 12)
    assert isinstance(first, bytes)
    assert middle is records
    assert int.from_bytes(first[:4], "big") == len(first) - 4 + len(records) + len(last)


@pytest.mark.parametrize("frame", ["", "000000", "00000007", "00000007 01 00"])
def test_a_response_cut_short(frame: str) -> None:
    with pytest.raises(ProtocolError):
        decode_response(HeartbeatResponse, 4, bytes.fromhex(frame))
