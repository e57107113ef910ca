"""A short, seeded share of ``python -m tests.fuzz``: every message, every version, every run."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.schema import Message, decode, encode
from tests.fuzz.damage import ABSURD, damaged
from tests.fuzz.targets import BUDGET_BYTES, TARGETS, Target, read_message
from tests.wire.samples import Manner, Samples
from tests.wire.tables import MESSAGE_TYPES, PAIRS, pairs_of

INPUTS = 60  # per message and version
INPUTS_OF_OTHERS = 3000
MEASURED_INPUTS = 15
# A text of one wide character takes four bytes for each of its letters, and is copied on the way.
MEMORY_PER_BYTE = 6
SLACK_BYTES = 1 << 14

PROVEN = f"of {len(PAIRS)} (message, version) pairs withstand damage, in bounded memory"
OTHERS = [target for target in TARGETS.values() if "-" not in target.name]

each_message = pytest.mark.parametrize("cls", MESSAGE_TYPES.values(), ids=MESSAGE_TYPES)


@each_message
def test_a_damaged_message_is_a_message_or_a_protocol_error(
    cls: type[Message], record_property: Callable[[str, object], None]
) -> None:
    random = Random(cls.__name__)
    for name, version in pairs_of(cls):
        target = TARGETS[f"{name}-{version}"]
        valid = target.valid(random)
        assert target.read(valid)
        for _ in range(INPUTS):
            target.read(damaged(valid, random))
        for _ in range(MEASURED_INPUTS):
            data = damaged(valid, random)
            taken = memory_to_read(cls, version, data)
            assert taken < BUDGET_BYTES + MEMORY_PER_BYTE * len(data) + SLACK_BYTES
    record_property(PROVEN, len(pairs_of(cls)))


def memory_to_read(cls: type[Message], version: int, data: bytes) -> int:
    tracemalloc.start()
    try:
        with suppress(ProtocolError):
            decode(cls, version, data, max_decoded_bytes=BUDGET_BYTES)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each_message
def test_a_message_cut_short_anywhere_is_a_protocol_error(cls: type[Message]) -> None:
    for version in cls.__schema__.versions:
        message = Samples(cls.__name__).message(cls, version, Manner.FILLED)
        written = memoryview(encode(message, version))
        for length in range(len(written)):
            with pytest.raises(ProtocolError):
                decode(cls, version, written[:length])


@each_message
def test_an_absurd_length_anywhere_is_a_message_or_a_protocol_error(cls: type[Message]) -> None:
    version = cls.__schema__.versions.last
    written = encode(Samples(cls.__name__).message(cls, version, Manner.FILLED), version)
    for position in range(min(len(written), 300)):
        for absurd in ABSURD:
            data = written[:position] + absurd + written[position + len(absurd) :]
            read_message(cls, version, data)


@pytest.mark.parametrize("target", OTHERS, ids=lambda target: target.name)
def test_requests_keys_and_batches_withstand_damage(target: Target) -> None:
    random = Random(target.name)
    for _ in range(INPUTS_OF_OTHERS // 20):
        valid = target.valid(random)
        for _ in range(20):
            target.read(damaged(valid, random))


@pytest.mark.parametrize("name", ["request", "batches"])
def test_what_is_damaged_was_valid_before(name: str) -> None:
    random = Random(4)
    assert all(TARGETS[name].read(TARGETS[name].valid(random)) for _ in range(200))
