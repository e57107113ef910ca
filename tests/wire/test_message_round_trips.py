"""Any message survives being written and read, in every version that it has."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logquake.wire.schema import Message, decode, encode, encode_parts
from tests.parts import joined


@given(data=st.data())
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_written_is_read_again(
    message_type: type[Message], strategies_for: type, data: st.DataObject
) -> None:
    strategies = strategies_for()
    for version in message_type.__schema__.versions:
        message = data.draw(strategies.of(message_type, version))
        written = encode(message, version)
        assert decode(message_type, version, memoryview(written)) == message
        assert joined(encode_parts(message, version, b"prefix")) == b"prefix" + written


@given(data=st.data())
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
def test_bytes_around_a_message_do_not_matter(
    message_type: type[Message], strategies_for: type, data: st.DataObject
) -> None:
    strategies = strategies_for()
    for version in message_type.__schema__.versions:
        message = data.draw(strategies.of(message_type, version))
        surrounded = b"before" + encode(message, version) + b"\xff\xff"
        assert decode(message_type, version, memoryview(surrounded), len(b"before")) == message
