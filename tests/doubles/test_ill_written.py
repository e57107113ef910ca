"""Whatever is ill written is a message all the same, or a ProtocolError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest

from logquake.wire.api import ApiKey, api_name, response_type
from logquake.wire.errors import ProtocolError
from logquake.wire.schema import Message, decode, encode
from tests.doubles.ill_written import ill_written, written
from tests.wire.samples import Samples

TIMES = 5


def responses(key: ApiKey) -> Iterator[tuple[type[Message], int, Message]]:
    """With every value in its oldest and its newest version."""
    response = response_type(key)
    assert response is not None
    versions = response.__schema__.versions
    for version in {versions.first, versions.last}:
        for said in Samples(key).of(response, version):
            yield response, version, said


@pytest.mark.parametrize("key", list(ApiKey), ids=api_name)
def test_without_a_lie_it_is_what_was_said(key: ApiKey) -> None:
    for _, version, said in responses(key):
        assert written(said, version) == encode(said, version)


@pytest.mark.parametrize("key", list(ApiKey), ids=api_name)
def test_it_is_decoded_or_refused(key: ApiKey) -> None:
    random = Random(key)
    told = list(responses(key))
    for response, version, said in random.choices(told, k=TIMES):
        with suppress(ProtocolError):
            decode(response, version, ill_written(said, version, random))


def test_most_are_refused() -> None:
    random = Random(1)
    refused = 0
    for response, version, said in random.choices(list(responses(ApiKey.METADATA)), k=50):
        try:
            decode(response, version, ill_written(said, version, random))
        except ProtocolError:
            refused += 1
    assert 10 < refused < 45
