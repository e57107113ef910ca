"""A topic's rules for what producers may write to it."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.compression import Codec

UNBOUNDED_MS = 2**63 - 1
MAX_DECOMPRESSED_BYTES = 128 * 1024 * 1024
"""Of one batch, or wrapper, where nobody says otherwise. Kafka has no such bound: a batch of 1 MiB
can ask it for a gigabyte.
"""


@dataclass(frozen=True, slots=True)
class ProduceLimits:
    """The defaults are Kafka 3.9's."""

    # max.message.bytes: the whole batch as sent, compressed.
    max_batch_bytes: int = 1_048_588
    # What one batch may decompress to. Too low refuses well-compressed batches that Kafka takes.
    max_decompressed_bytes: int = MAX_DECOMPRESSED_BYTES
    # What one batch may have, decompressed, to be read again where the compiled reader gives up.
    # For a MiB of the smallest records that takes half a second, in which nobody is served.
    max_exact_bytes: int = 1 << 20
    # Records that a refusal names, at most. Kafka names all: more bytes than the batch had.
    max_record_errors: int = 1000
    # cleanup.policy holds "compact": every record needs a key.
    compacted: bool = False
    # compression.type; None is "producer": batches stay as they were sent.
    compression: Codec | None = None
    # message.timestamp.type=LogAppendTime: the records' own times are overwritten.
    log_append_time: bool = False
    # message.timestamp.before.max.ms, message.timestamp.after.max.ms
    timestamp_before_max_ms: int = UNBOUNDED_MS
    timestamp_after_max_ms: int = UNBOUNDED_MS
    # topic-partition, as refusals name it.
    partition: str = ""
