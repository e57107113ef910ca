"""What a connection is told that goes on with bytes that cannot be read: by ours and by Kafka."""

from __future__ import annotations

import socket

import pytest

from logquake.client.settings.addresses import addresses
from logquake.cluster.api import Cluster
from logquake.wire.header import RequestHeader, encode_request
from logquake.wire.messages.metadata import MetadataRequest
from tests.compat.lone_kafka import LoneKafka
from tests.parts import joined
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.maven

ASKED = 3


def correlation_ids(servers: str, hostile: bytes) -> list[int]:
    """Of the answers to some requests before the hostile bytes and one behind, up to the end."""
    address = addresses(servers)[0]
    frames = [
        joined(encode_request(RequestHeader(3, 9, number, "x"), MetadataRequest(topics=[])))
        for number in range(ASKED + 1)
    ]
    content = b"".join(frames[:ASKED]) + hostile + frames[ASKED]
    with socket.create_connection(address, PATIENCE_S) as there, there.makefile("rb") as answers:
        there.sendall(content)
        found = []
        while size := answers.read(4):
            answer = answers.read(int.from_bytes(size))
            found.append(int.from_bytes(answer[:4]))
    return found


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(b"\xff\xff\xff\xff", id="negative length"),
        pytest.param(b"\0\0\0\x01\0", id="half a header"),
        pytest.param(b"\0\0\0\x0a\x7f\xff\0\0\0\0\0\x01\xff\xff", id="unknown key"),
        pytest.param(b"\0\0\0\x0e\0\x03\0\x01\0\0\0\x01\xff\xff\x7f\xff\xff\xff", id="body"),
    ],
)
def test_what_was_asked_before_is_answered(
    cluster: Cluster, lone_kafka: LoneKafka, hostile: bytes
) -> None:
    answered = list(range(ASKED))
    assert correlation_ids(lone_kafka.servers, hostile) == answered
    assert correlation_ids(cluster.bootstrap_servers, hostile) == answered
