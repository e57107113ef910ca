"""Brokers that answer with nonsense: an error is told, once, and the connection ends."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from logquake.client.errors import ClientError
from logquake.client.network.effects import Node, Write
from logquake.client.network.link import Answer, ClientRequest, Serving
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from logquake.wire.api import ApiKey, api_name, request_type, response_type
from logquake.wire.header import decode_request_header, encode_response
from tests.parts import joined
from tests.unit.client.cluster_in_memory import FakeTopology, all_versions
from tests.wire.samples import Samples

ANSWERS = 30
MAX_BYTES = 1 << 20
BROKER = Node(1, "one", 9092)


class Hostile:
    """Damages what a broker would say; ``told`` is what came of the requests."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.told: list[Answer] = []
        self.links = Links(NetworkSettings(max_response_bytes=MAX_BYTES), Random(seed))

    def connect(self) -> None:
        """Until requests may be sent, by an honest answer."""
        self.links.begin(BROKER, 0)
        link = self.links.states.link(BROKER.id)
        assert link is not None
        self.links.take_effects()
        self.links.resolved(link.id, ["10.0.0.1"], 0)
        self.links.connected(link.id, 0)
        self.receive(link.id, joined(encode_response(1, all_versions(), 3)))
        self.links.take_effects()

    def version_of(self, key: ApiKey) -> int:
        """It is connected to then."""
        link = self.links.states.link(BROKER.id)
        if link is None:
            self.connect()
            link = self.links.states.link(BROKER.id)
        request = request_type(key)
        assert link is not None
        assert request is not None
        assert isinstance(link.stage, Serving)
        return link.stage.version_of(request, BROKER, None)

    def ask(self, key: ApiKey, answer: Any) -> None:
        version = self.version_of(key)
        link = self.links.states.link(BROKER.id)
        request, response = request_type(key), response_type(key)
        assert link is not None
        assert request is not None
        self.links.send(link, ClientRequest(request(), version, response, self.told.append), 0)
        (written,) = self.links.take_effects()
        assert isinstance(written, Write)
        header, _ = decode_request_header(joined(written.parts)[4:])
        self.links.written(link.id)
        honest = joined(encode_response(header.correlation_id, answer, header.api_version))
        self.receive(link.id, self.damaged(honest))

    def damaged(self, honest: bytes) -> bytes:
        content = bytearray(honest)
        for _ in range(self.random.randint(1, 4)):
            place = self.random.randrange(len(content))
            kind = self.random.randrange(4)
            if kind == 0:
                content[place] ^= 1 << self.random.randrange(8)
            elif kind == 1:
                content[place : place + 4] = b"\x7f\xff\xff\xff"
            elif kind == 2:
                del content[place : place + self.random.randint(1, 8)]
            else:
                content[place:place] = self.random.randbytes(self.random.randint(1, 8))
        return bytes(content)

    def receive(self, link: int, content: bytes) -> None:
        while content:
            room = self.links.room(link)
            if not room:
                return
            piece = content[: min(len(room), self.random.randint(1, 200))]
            room[: len(piece)] = piece
            self.links.received(link, len(piece), 0)
            content = content[len(piece) :]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_a_broker_says_is_an_answer_or_an_error(seed: int) -> None:
    hostile = Hostile(seed)
    metadata = FakeTopology().metadata
    for number in range(ANSWERS):
        if number % 2:
            hostile.ask(ApiKey.METADATA, metadata(request_type(ApiKey.METADATA)(), None))  # type: ignore[misc,arg-type]
        else:
            hostile.ask(ApiKey.API_VERSIONS, all_versions())
        link = hostile.links.states.link(BROKER.id)
        if len(hostile.told) <= number:  # it waits for more, and gets no more
            assert link is not None
            hostile.links.received(link.id, 0, 0)
        assert len(hostile.told) == number + 1
        if isinstance(hostile.told[-1], ClientError):
            assert hostile.links.states.link(BROKER.id) is None


KEYS = [key for key in ApiKey if key in {api.api_key for api in all_versions().api_keys}]


@pytest.mark.parametrize("key", KEYS, ids=api_name)
def test_every_answer_may_be_damaged(key: ApiKey) -> None:
    """Of each kind that there is, filled in every manner."""
    response = response_type(key)
    assert response is not None
    hostile = Hostile(key)
    samples = Samples(key)
    for _ in range(3):
        for answer in samples.of(response, hostile.version_of(key)):
            known = len(hostile.told)
            hostile.ask(key, answer)
            link = hostile.links.states.link(BROKER.id)
            if link is not None and len(hostile.told) == known:
                hostile.links.received(link.id, 0, 0)
            assert len(hostile.told) == known + 1
