"""Requests that fail as a whole are answered as Kafka's own classes answer them.

Kafka gathers some answers in hash maps, so the order of what they list is not compared; and of
texts, in place of which it has the error's own here and there, whether there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.errors import ErrorCode
from logquake.wire.refusals import refused
from logquake.wire.schema import Message, Struct, decode, encode
from tests.wire.java_oracle import Case, JavaOracle, Written
from tests.wire.samples import Manner, Samples

pytestmark = pytest.mark.maven

TEXT = "what failed"
KEYS = sorted(set(ApiKey))
PROVEN = "refusals, of every key and version, are those of Kafka's own classes"


def narrow(name: str) -> Callable[[Random], Any] | None:
    """Kafka reads no ACLs of operations, permissions and patterns that it does not know."""
    if name in ("operation", "permission_type", "pattern_type", "pattern_type_filter"):
        return lambda _: 3
    if name in ("resource_type", "resource_type_filter", "resource_pattern_type"):
        return lambda _: 3
    return None


@pytest.mark.parametrize("error", [ErrorCode.NOT_CONTROLLER, ErrorCode.UNSUPPORTED_VERSION])
@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_a_refusal_is_kafkas(
    key: ApiKey, error: ErrorCode, java: JavaOracle, record_property: Callable[[str, object], None]
) -> None:
    request, response = request_type(key), response_type(key)
    assert request is not None
    assert response is not None
    asked = [
        (version, message)
        for version in request.__schema__.versions
        for message in requests_of(request, version)
    ]
    cases = [
        Case(f"ErrorResponse {key}", version, error, encode(message, version))
        for version, message in asked
    ]
    compared = set()
    for (version, message), answer in zip(asked, java.ask(cases), strict=True):
        ours = refused(key, version, message, error, TEXT)
        if not isinstance(answer, Written):
            assert ours is None or "NullPointer" in answer.reason, (version, message, answer)
            continue
        assert ours is not None, (version, message)
        theirs = decode(response, version, answer.data)
        ours = decode(response, version, encode(ours, version))
        assert plain(ours) == plain(theirs), (version, message)
        compared.add(version)
    assert compared == set(request.__schema__.versions)
    record_property(PROVEN, len(compared))


def requests_of(request: type[Message], version: int) -> Iterator[Message]:
    samples = Samples(f"{request.__name__} {version}", narrow)
    for manner in (Manner.FILLED, Manner.FILLED, Manner.NULL, Manner.EMPTY):
        yield samples.message(request, version, manner)


def plain(value: Any) -> Any:
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__schema__.fields}
        fields.update({name: "text" for name, said in fields.items() if is_text(name, said)})
        return {name: plain(each) for name, each in fields.items()}
    if isinstance(value, list):
        return sorted(map(plain, value), key=repr)
    return bytes(value) if isinstance(value, memoryview) else value


def is_text(name: str, value: Any) -> bool:
    return name == "error_message" and value is not None
