"""Which sequence an idempotent producer's next batch has (KIP-98, Kafka's ProducerAppendInfo)."""

from __future__ import annotations

SEQUENCES = 2**31

Due = tuple[int, int]  # producer epoch, sequence


def due(known: Due | None, epoch: int, sequence: int) -> Due:
    """What must come, if a batch of ``epoch`` and ``sequence`` came.

    An epoch's sequences begin with 0. A producer of which nothing is known may come with any.
    """
    if known is None:
        return epoch, sequence
    return (epoch, 0) if epoch > known[0] else known


def after_batch(epoch: int, sequence: int, records: int) -> Due:
    return epoch, (sequence + records) % SEQUENCES


def after_marker(known: Due | None, epoch: int) -> Due:
    """A marker may begin a producer's next epoch."""
    return (epoch, 0) if known is None or epoch > known[0] else known
