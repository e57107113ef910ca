"""Damaged bytes of every message and version: what Kafka's classes read is read here, as the same.

And what they refuse is refused. LOGQUAKE_DAMAGED_EACH asks about more than the few of every run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.schema import MAX_DECODED_BYTES, Message, decode, encode
from tests.fuzz.damage import damaged
from tests.wire.java_oracle import Case, JavaOracle, Refused, Written
from tests.wire.json_form import in_snake_case, json_form
from tests.wire.samples import ONCE, Samples
from tests.wire.tables import PAIRS, pairs_of

pytestmark = pytest.mark.maven

EACH = int(os.environ.get("LOGQUAKE_DAMAGED_EACH", "12"))  # of a message and version
LONGEST = 0x7FFF // 3
PROVEN = f"of {len(PAIRS)} (message, version) pairs are read as by Kafka when they are damaged"


def test_damaged_bytes_are_read_or_refused_as_by_kafka(
    message_type: type[Message], java: JavaOracle, record_property: Callable[[str, object], None]
) -> None:
    random = Random(f"{message_type.__name__} {EACH}")
    cases = [
        Case(name, version, version, damaged_short(message_type, version, random))
        for name, version in pairs_of(message_type)
        for _ in range(EACH)
    ]
    for case, answer in zip(cases, java.ask(cases), strict=True):
        compare(message_type, case, answer)
    record_property(PROVEN, len(pairs_of(message_type)))


def damaged_short(cls: type[Message], version: int, random: Random) -> bytes:
    """Within the length of the longest text that need not be UTF-8."""
    samples = Samples(random.random())
    valid = encode(samples.message(cls, version, random.choice(ONCE)), version)
    while len(data := damaged(valid, random)) > LONGEST:
        pass
    return data


def compare(cls: type[Message], case: Case, answer: Written | Refused) -> None:
    version = case.read_version
    said = f"{case.name} v{version}: {case.data.hex()}: {answer}"
    ours = read(cls, version, case.data)
    if isinstance(answer, Refused):
        assert (ours is not None) == answer.is_read, said
        return
    assert ours is not None, said
    message, unread = ours
    assert unread == answer.unread, said
    assert in_snake_case(answer.json) == json_form(message, version), said
    assert_written_alike(cls, version, encode(message, version), answer.data, said)


def read(cls: type[Message], version: int, data: bytes) -> tuple[Any, int] | None:
    """The message and how many bytes were left, None for what is no message."""
    try:
        decode(cls, version, data)
    except ProtocolError:
        return None
    message, position = cls.__schema__.decoders[version](data, 0, MAX_DECODED_BYTES)
    return message, len(data) - position


def assert_written_alike(
    cls: type[Message], version: int, ours: bytes, theirs: bytes, said: str
) -> None:
    """Kafka keeps tagged fields that it does not know; here they are dropped."""
    if ours != theirs:
        assert len(theirs) > len(ours), said
        assert encode(decode(cls, version, theirs), version) == ours, said
