"""What comes of bytes that are received."""

from __future__ import annotations

from logquake.wire.header import encode_response
from logquake.wire.messages.metadata import MetadataResponse
from tests.parts import joined
from tests.unit.client.network.asked import Asked


def test_nothing_comes_of_a_part_of_an_answer_before_all_of_it_is_there() -> None:
    asked = Asked()
    asked.greet()
    asked.metadata()
    content = joined(encode_response(2, MetadataResponse(), 9))
    assert not asked.receive(content[:1])
    assert not asked.receive(content[1:-1])
    assert asked.told == []
    assert asked.receive(content[-1:])
    assert asked.told == [MetadataResponse()]


def test_something_comes_of_a_connection_that_ends() -> None:
    asked = Asked()
    asked.greet()
    assert asked.receive(b"")
    assert asked.is_over
