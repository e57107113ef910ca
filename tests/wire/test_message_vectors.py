"""Requests and responses that a real Kafka 3.9 cluster and its clients exchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.header import (
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from logquake.wire.schema import decode
from tests.parts import joined

VECTORS = Path(__file__).with_name("vectors") / "frames-3.9.jsonl"
FRAMES = [json.loads(line) for line in VECTORS.read_text().splitlines()]
PROVEN = "of 164 frames of a real cluster are written as they were read"
IDS = [f"{i}-{f['from']}-{f['api']}-{f['version']}" for i, f in enumerate(FRAMES)]

# librdkafka 2.16 ends this request with one byte too many; Kafka ignores it.
TRAILING: dict[tuple[str, int], bytes] = {
    ("librdkafka", ApiKey.ALTER_USER_SCRAM_CREDENTIALS): b"\0"
}


@pytest.mark.parametrize("frame", FRAMES, ids=IDS)
def test_a_request_is_written_as_it_was_read(
    frame: dict[str, Any], record_property: Callable[[str, object], None]
) -> None:
    raw = bytes.fromhex(frame["request"])
    header, start = decode_request_header(memoryview(raw))
    assert (header.api_key, header.api_version) == (frame["key"], frame["version"])
    request_class = request_type(header.api_key)
    assert request_class is not None
    request = decode(request_class, header.api_version, memoryview(raw), start)
    written = joined(encode_request(header, request))
    trailing = TRAILING.get((frame["from"], header.api_key), b"")
    assert written[4:] + trailing == raw
    assert int.from_bytes(written[:4], "big") == len(written) - 4
    record_property(PROVEN, 1)


@pytest.mark.parametrize("frame", FRAMES, ids=IDS)
def test_a_response_is_written_as_it_was_read(
    frame: dict[str, Any], record_property: Callable[[str, object], None]
) -> None:
    raw = bytes.fromhex(frame["response"])
    version = frame["version"]
    response_class = response_type(frame["key"])
    assert response_class is not None
    correlation_id, response = decode_response(response_class, version, memoryview(raw))
    written = joined(encode_response(correlation_id, response, version))
    assert written == len(raw).to_bytes(4, "big") + raw
    record_property(PROVEN, 1)


def test_the_vectors_are_all_there() -> None:
    """Clients with brokers, and brokers among themselves: 38 of the 62 APIs."""
    assert len(FRAMES) == 82
    assert len({frame["key"] for frame in FRAMES}) == 38
