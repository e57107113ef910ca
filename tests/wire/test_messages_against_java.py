"""Every message in every version, against the classes of Apache Kafka 3.9.1 itself.

The Java client, the group coordinator and the transaction coordinator each bring theirs. What is
written here is read there to its last byte, means the same (Kafka's own JSON form), and is written
there as the same bytes.

LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9 (tests/peers/pom.xml).
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.header import RequestHeader, encode_request, encode_response
from logquake.wire.schema import Message, Struct, decode, encode
from logquake.wire.schema.fields import ArrayOf, Binary, Field, FieldType, Scalar, StructOf
from logquake.wire.schema.message import default_value
from logquake.wire.uuids import encode_uuid
from tests.wire.java_oracle import DEFAULTS, Case, JavaOracle, Refused, Written, java_oracle
from tests.wire.samples import Samples
from tests.wire.tables import PAIRS, pairs_of, snake_case

pytestmark = pytest.mark.maven

PROVEN = f"of {len(PAIRS)} (message, version) pairs agree with Kafka's own classes"

Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def java() -> Iterator[JavaOracle]:
    libs = os.environ.get("LOGQUAKE_KAFKA_LIBS")
    if not libs:
        pytest.skip("LOGQUAKE_KAFKA_LIBS does not name a folder with Kafka's jars")
    program = shutil.which("java")
    if program is None:
        pytest.skip("no java on the path")
    with java_oracle(program, Path(libs)) as oracle:
        yield oracle


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
        assert answer.data == case.data
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
        assert answer.data == case.data
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


def in_snake_case(value: Any) -> Any:
    match value:
        case dict():
            return {snake_case(key): in_snake_case(inner) for key, inner in value.items()}
        case list():
            return [in_snake_case(inner) for inner in value]
    return value


def json_form(struct: Struct, version: int) -> dict[str, Any]:
    """What Kafka's JSON converters make: tagged fields only where they are not their defaults."""
    form = {}
    for name, field in struct.__schema__.fields.items():
        value = getattr(struct, name)
        if version in field.versions and not (field.tag is not None and is_default(value, field)):
            form.update(json_field(name, field.type, value, version))
    return form


def is_default(value: Any, field: Field) -> bool:
    return bool(value == default_value(field))


def json_field(name: str, kind: FieldType, value: Any, version: int) -> dict[str, Any]:
    if name == "records" and value is not None:  # their bytes are left out on demand
        return {"records_size_in_bytes": len(value)}
    return {name: json_value(kind, value, version)}


def json_value(kind: FieldType, value: Any, version: int) -> Any:
    match kind:
        case _ if value is None:
            return None
        case ArrayOf(element=element):
            return [json_value(element, item, version) for item in value]
        case StructOf():
            return json_form(value, version)
        case Binary():
            return base64.b64encode(value).decode()
        case Scalar(code="16s"):
            return encode_uuid(value)
    return value
