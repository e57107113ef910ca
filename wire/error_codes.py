"""The error codes of an answer, wherever in it they are (Kafka's AbstractResponse.errorCounts)."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.wire.schema import Struct

_NAMES = ("error_code", "partition_error_code")  # the second in AddPartitionsToTxn


def error_codes(struct: Struct) -> Iterator[int]:
    """Of the answer as a whole and of all that it lists."""
    for name in struct.__schema__.fields:
        value = getattr(struct, name)
        if name in _NAMES:
            yield value
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, Struct):
                    yield from error_codes(each)
