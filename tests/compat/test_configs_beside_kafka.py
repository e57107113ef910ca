"""Configurations described and changed: what a real Kafka answers is what was stored.

Ours is held against the same in tests/unit/node/requests/test_configs.py. UPDATE_VECTORS=1 stores
Kafka's answers anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.wire.api import ApiKey, response_type
from logquake.wire.messages.configs import DescribeConfigsRequest
from logquake.wire.schema import Message, decode, encode
from tests.compat.config_cases import TOPIC, TOPIC_CONFIG, Case, cases, readable, store, stored
from tests.compat.lone_kafka import KAFKA_ID, LoneKafka, Wire
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

_LOOKS = 20  # while vectors are stored: what was changed is in effect by then


def ask(wire: Wire, case: Case) -> list[str]:
    schema = type(case.request).__schema__
    reply_type = response_type(ApiKey(schema.key or 0))
    assert reply_type is not None
    is_flexible = case.version in schema.flexible
    body = encode(case.request, case.version)
    answer = wire.send(schema.key or 0, case.version, body, flexible=is_flexible)
    return readable(decode_answer(reply_type, case.version, answer), KAFKA_ID)


def decode_answer(reply_type: type[Message], version: int, answer: bytes) -> Message:
    return decode(reply_type, version, memoryview(bytearray(answer)))


@pytest.fixture
def wire(lone_kafka: LoneKafka) -> Iterator[Wire]:
    admin = AdminClient({"bootstrap.servers": lone_kafka.servers})
    news = [NewTopic(TOPIC, 1, 1, config=TOPIC_CONFIG)]
    for future in admin.create_topics(news, operation_timeout=PATIENCE_S).values():
        future.result(PATIENCE_S)
    host, port = lone_kafka.servers.split(":")
    with closing(Wire(host, int(port))) as wire:
        yield wire


def test_a_real_kafka_answers_as_was_stored(
    wire: Wire, record_property: Callable[[str, object], None]
) -> None:
    if os.environ.get("UPDATE_VECTORS"):
        store({case.name: _settled(wire, case) for case in cases(KAFKA_ID)})
        return
    expected = stored()
    for case in cases(KAFKA_ID):
        if isinstance(case.request, DescribeConfigsRequest):  # changes take effect later
            wait_for(case.name, partial(ask, wire, case), expected[case.name].__eq__)
        else:
            assert ask(wire, case) == expected[case.name], case.name
        record_property("answers of a real Kafka on configurations are as stored", 1)


def _settled(wire: Wire, case: Case) -> list[str]:
    if not isinstance(case.request, DescribeConfigsRequest):
        return ask(wire, case)
    looks = iter(range(_LOOKS))
    answers: list[list[str]] = []

    def look() -> bool:
        answers.append(ask(wire, case))
        return next(looks) == _LOOKS - 1

    wait_for("an answer that stays", look)
    return answers[-1]
