"""Requests of clients of every age are answered as a real Kafka 3.9.1 answered them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.wire.api import ApiKey, request_type
from logquake.wire.schema import decode, encode
from tests.compat.old_frames import Case, cases, differences, play, stored, topic_name
from tests.unit.node.requests.lone_broker import LoneBroker

ALL = list(cases())
STORED = stored()


def answers(broker: LoneBroker, at: int, case: Case) -> list[bytes]:
    broker.create_topic(topic_name(at), config=case.config)

    def send(key: int, version: int, body: bytes) -> bytes:
        asked = request_type(ApiKey(key))
        assert asked is not None
        request = decode(asked, version, memoryview(body))
        return encode(broker.ask(request, version), version)

    return play(case, topic_name(at), send)


@pytest.mark.parametrize("at", range(len(ALL)), ids=[case.name for case in ALL])
def test_answers_as_kafka_does(
    broker: LoneBroker, at: int, record_property: Callable[[str, object], None]
) -> None:
    case = ALL[at]
    assert not differences(case, answers(broker, at, case), STORED[case.name])
    record_property("old requests are answered as a real Kafka answered them", len(case.asks))
