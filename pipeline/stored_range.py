"""One range of a partition, batch by batch as they are stored, on an executor."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.client import Consumer
from logquake.client.consumer.batches import StoredBatch
from logquake.client.errors import OffsetOutOfRangeError, ReadStalledError
from logquake.pipeline.planning import OffsetRange


def stored_range(
    consumer: Consumer, wanted: OffsetRange, *, fail_on_data_loss: bool
) -> Iterator[StoredBatch]:
    """Those that have an offset in the range, whole: the first may begin before it, the last may
    end behind it. Offsets that nobody may see, or that are compacted away, are passed over.

    Without ``fail_on_data_loss``, what retention took is passed over too. Raises ClientError:
    OffsetOutOfRangeError, ReadStalledError if for default.api.timeout.ms nothing comes.
    """
    place, stall_ms = wanted.place, consumer.config.default_api_timeout_ms
    consumer.assign([place])
    consumer.seek(place, wanted.start)
    position = wanted.start
    while position < wanted.end:
        try:
            found = consumer.poll_batches(stall_ms).get(place, ())
        except OffsetOutOfRangeError:
            if fail_on_data_loss:
                raise
            earliest = consumer.beginning_offsets([place])[place]
            if earliest <= position:
                return  # the log now ends before the range does
            consumer.seek(place, earliest)
            found = ()
        yield from (each for each in found if each.header.base_offset < wanted.end)
        position, before = consumer.position(place), position
        if position == before:
            raise ReadStalledError(
                f"{place}: nothing at {position} of {wanted.end} for {stall_ms} ms"
            )
