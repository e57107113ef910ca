"""Every request in every version: what a real Kafka answers is what was stored, and what ours does.

In memory ours is held against the same in tests/unit/node/requests/test_every_answer.py.
UPDATE_VECTORS=1 stores Kafka's answers anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.api import ApiKey, request_type, response_type
from tests.compat.every_request import (
    FIRST_ASKED,
    NO_ANSWER,
    PROPERTIES,
    TOPIC,
    Case,
    cases,
    is_answered,
    plain,
    store,
    stored,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.lone_kafka import Wire
from tests.compat.twins import Twin, twins_of
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Twin, Twin]]:
    folder = tmp_path_factory.mktemp("every")
    with twins_of(Twin, kafka_programs, cluster.zookeeper_connect, folder, PROPERTIES) as twins:
        for each in twins:
            assert each.create(TOPIC) == ("NONE", None)
            make_ready(each)
        yield twins


def make_ready(twin: Twin) -> None:
    for request, version in FIRST_ASKED:
        answer_type = response_type(type(request).__schema__.key or 0)
        wait_for(
            f"answer to {request}", partial(twin.ask, request, answer_type, version), is_answered
        )


def answer_of(twin: Twin, case: Case) -> Any:
    try:
        return plain(twin.ask(case.request, response_type(case.key), case.version))
    except ClientError:
        return NO_ANSWER


def answers_of(twin: Twin) -> dict[str, Any]:
    topic_id = twin.topic(TOPIC).topic_id
    return {case.name: answer_of(twin, case) for case in cases(topic_id)}


def differences(found: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What was said by name of the case, and what was stored."""
    expected = stored()
    return {name: (said, expected[name]) for name, said in found.items() if said != expected[name]}


def test_every_answer_of_a_real_kafka_is_as_stored(
    twins: tuple[Twin, Twin], record_property: Callable[[str, object], None]
) -> None:
    found = answers_of(twins[1])
    if os.environ.get("UPDATE_VECTORS"):
        store(found)
    assert differences(found) == {}
    record_property("answers of a real Kafka, of every key and version, are as stored", len(found))


def test_every_answer_of_ours_is_as_a_real_kafkas(
    twins: tuple[Twin, Twin], record_property: Callable[[str, object], None]
) -> None:
    found = answers_of(twins[0])
    assert differences(found) == {}
    record_property("every request over TCP is answered as a real Kafka did", len(found))


def test_what_is_not_served_ends_the_connection_with_both(twins: tuple[Twin, Twin]) -> None:
    """Keys of KRaft, of later releases and of nobody, and the version after each last one."""
    kinds = [(key, request_type(key)) for key in sorted(ApiKey)]
    beyond = [(key, kind.__schema__.versions.last + 1) for key, kind in kinds if kind is not None]
    unknown = [(key, 0) for key in range(95) if key not in ApiKey.__members__.values()]
    for key, version in [*beyond, *unknown]:
        if key == ApiKey.API_VERSIONS:
            continue  # the one that has an answer, in version 0
        for twin in twins:
            with closing(Wire("127.0.0.1", twin.port)) as wire:
                assert wire.send(key, version, bytes(64), flexible=True) == b"", (key, version)
