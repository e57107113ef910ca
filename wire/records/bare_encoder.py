"""aiokafka's compiled encoder, for the bytes of records alone."""

from __future__ import annotations

import sys

from logquake.wire.compression import Codec
from logquake.wire.records.compiled import DefaultRecordBatchBuilder
from logquake.wire.records.layout import MAGIC
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE

NO_HEADERS: list[tuple[str, bytes | None]] = []
# The builder refuses what fits to the byte, and has an empty record that is cut off again.
_BEYOND_LIMIT_BYTES = 8


def new_encoder(limit_bytes: int | None = None) -> DefaultRecordBatchBuilder:
    """What it says is its size now is to be cut off from what it builds, and is in no limit.

    The builder takes its first timestamp as the base and -1 for "none yet"; an empty record at time
    0, cut off again, makes every later one relative to 0 whatever it is.
    """
    encoder = DefaultRecordBatchBuilder(
        MAGIC,
        Codec.NONE,
        0,
        NO_PRODUCER_ID,
        NO_PRODUCER_EPOCH,
        NO_SEQUENCE,
        sys.maxsize if limit_bytes is None else limit_bytes + _BEYOND_LIMIT_BYTES,
    )
    encoder.append(0, 0, None, None, NO_HEADERS)
    return encoder
