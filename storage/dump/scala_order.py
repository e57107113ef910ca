"""The order in which Scala 2.13's mutable hash sets and maps go through what they hold.

Kafka's tool prints such collections as they come, so the same text needs the same order: by the
slot of the hash table, then by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

_FIRST_SLOTS = 16
_LOAD_FACTOR = 0.75
_MASK = 0xFFFFFFFF


def in_scala_order(elements: Iterable[T], java_hash: Callable[[T], int]) -> list[T]:
    """Each once; ``java_hash`` gives the 32 bits of its hashCode()."""
    hashes = {element: _spread(java_hash(element)) for element in elements}
    slots = _slots(len(hashes))
    return sorted(hashes, key=lambda one: (hashes[one] & (slots - 1), _signed(hashes[one])))


def string_hash(text: str) -> int:
    units = text.encode("utf-16-be")
    result = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & _MASK
    return result


def topic_partition_hash(topic_partition: TopicPartition) -> int:
    topic, partition = topic_partition
    return (31 * (31 + partition) + string_hash(topic)) & _MASK


def _slots(size: int) -> int:
    slots = _FIRST_SLOTS
    while size >= slots * _LOAD_FACTOR:
        slots *= 2
    return slots


def _spread(value: int) -> int:
    return value ^ (value >> 16)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value
