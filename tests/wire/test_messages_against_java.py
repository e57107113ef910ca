"""Every message in every version, against the classes of Apache Kafka 3.9.1 itself.

The Java client, the group coordinator and the transaction coordinator each bring theirs. What is
written here is read there to its last byte, means the same (Kafka's own JSON form), and is written
there as the same bytes.

LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9 (tests/peers/pom.xml).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.header import RequestHeader, encode_request, encode_response
from logquake.wire.schema import Message, decode, encode
from tests.wire.java_oracle import DEFAULTS, Case, JavaOracle, Refused, Written
from tests.wire.json_form import in_snake_case, json_form
from tests.wire.samples import Samples
from tests.wire.tables import PAIRS, pairs_of

pytestmark = pytest.mark.maven

PROVEN = f"of {len(PAIRS)} (message, version) pairs agree with Kafka's own classes"

Record = Callable[[str, object], None]


def test_kafka_reads_the_same_and_writes_the_same(
    message_type: type[Message], java: JavaOracle, record_property: Record
) -> None:
    name, samples = message_type.__name__, Samples(message_type.__name__)
    messages = [
        (message, version)
        for version in message_type.__schema__.versions
        for message in samples.of(message_type, version)
    ]
    cases = [Case(name, version, version, encode(m, version)) for m, version in messages]
    for (message, version), case, answer in zip(messages, cases, java.ask(cases), strict=True):
        assert isinstance(answer, Written), (version, answer)
        assert (answer.data, answer.unread) == (case.data, 0)
        assert in_snake_case(answer.json) == json_form(message, version)
        assert decode(message_type, version, answer.data) == message
    pairs = {(case.name, case.read_version) for case in cases}
    assert pairs == set(pairs_of(message_type))
    record_property(PROVEN, len(pairs))


def test_the_defaults_are_kafkas(message_type: type[Message], java: JavaOracle) -> None:
    versions = list(message_type.__schema__.versions)
    answers = java.ask(Case(message_type.__name__, DEFAULTS, version) for version in versions)
    for version, answer in zip(versions, answers, strict=True):
        assert isinstance(answer, Written), (version, answer)
        assert answer.data == encode(message_type(), version)


def test_what_another_version_cannot_carry_is_dropped_or_refused_as_by_kafka(
    message_type: type[Message], java: JavaOracle
) -> None:
    """Each field alone, from each version to every other: Kafka's rule of the ignorable fields."""
    samples, versions = Samples(message_type.__name__), message_type.__schema__.versions
    cases = [
        Case(message_type.__name__, first, second, encode(single, first))
        for first in versions
        for single in samples.singles(message_type, first)
        for second in versions
        if first != second
    ]
    for case, answer in zip(cases, java.ask(cases), strict=True):
        message = decode(message_type, case.read_version, case.data)
        assert written_or_refused(message, case.write_version) == data_or_refused(answer), case


@pytest.mark.parametrize("client_id", [None, "", "client ☃"])
@pytest.mark.parametrize("key", ApiKey, ids=lambda key: key.name)
def test_headers_are_of_kafkas_generation(
    key: ApiKey, client_id: str | None, java: JavaOracle
) -> None:
    request, response = request_type(key), response_type(key)
    assert request is not None
    assert response is not None
    versions = list(request.__schema__.versions)
    generations = java.ask(Case("HeaderVersions", key, version) for version in versions)
    cases = []
    for version, answer in zip(versions, generations, strict=True):
        assert isinstance(answer, Written)
        of_request, of_response = answer.json
        header = RequestHeader(key, version, -7, client_id)
        asked = before_body(encode_request(header, request()), request(), version)
        cases.append(Case("RequestHeader", of_request, of_request, asked))
        answered = before_body(encode_response(-7, response(), version), response(), version)
        cases.append(Case("ResponseHeader", of_response, of_response, answered))
    for case, answer in zip(cases, java.ask(cases), strict=True):
        assert isinstance(answer, Written), (case, answer)
        assert (answer.data, answer.unread) == (case.data, 0)
        assert answer.json["correlationId"] == -7
        if case.name == "RequestHeader" and case.read_version > 0:
            assert answer.json["clientId"] == client_id


def before_body(parts: list[Any], body: Message, version: int) -> bytes:
    """The header alone: without the length of the whole, and without the body."""
    frame, written = b"".join(parts), encode(body, version)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame.endswith(written)
    return frame[4 : len(frame) - len(written)]


def written_or_refused(message: Message, version: int) -> bytes | None:
    try:
        return encode(message, version)
    except ValueError:
        return None


def data_or_refused(answer: Written | Refused) -> bytes | None:
    return answer.data if isinstance(answer, Written) else None
