"""One range of a partition, read on an executor, as Arrow record batches.

Arrow batches of tens of thousands of rows pass to Spark far faster than tuples. Their types must be
exactly those of the schema in record_columns.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from logquake.client import Consumer
from logquake.client.consumer.fetch.batches import unreadable
from logquake.client.errors import OffsetOutOfRangeError, ReadStalledError
from logquake.client.sync.ranges import stored_range
from logquake.pipeline.asking import consuming
from logquake.pipeline.source.admission import DataLossError, losses
from logquake.pipeline.source.options import ReadOptions
from logquake.pipeline.source.planning import OffsetRange, beginnings
from logquake.wire.errors import RecordError

if TYPE_CHECKING:
    import pyarrow as pa

    from logquake.pipeline.source.decoding.rows import Rows


def read_range(options: ReadOptions, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    """Raises BrokersError, and with failOnDataLoss DataLossError."""
    from logquake.pipeline.source.decoding.rows import Rows

    with (
        consuming(options.consumer, f"reading {wanted.place}") as consumer,
        _losses_told(consumer, wanted) if options.fail_on_data_loss else nullcontext(),
    ):
        most_bytes = consumer.config.logquake_max_decompressed_bytes
        rows = Rows(wanted, options.columns, most_bytes)
        place, end, strict = wanted.place, wanted.end, options.fail_on_data_loss
        for stored in stored_range(consumer, place, wanted.start, end, fail_on_data_loss=strict):
            rows.add(stored)
            if rows.is_full:
                yield from _taken(rows, wanted)
        yield from _taken(rows, wanted)


@contextmanager
def _losses_told(consumer: Consumer, wanted: OffsetRange) -> Iterator[None]:
    """Where nothing more is to be had, whether what was planned is gone by now."""
    try:
        yield
    except (OffsetOutOfRangeError, ReadStalledError) as error:
        lost = list(_lost(consumer, wanted))
        if lost:
            raise DataLossError.of(lost) from error
        raise


def _lost(consumer: Consumer, wanted: OffsetRange) -> Iterator[str]:
    place = wanted.place
    read_to, earliest = consumer.position(place), beginnings(consumer, [place])
    ends = consumer.end_offsets(earliest.keys())
    if read_to <= ends.get(place, -1) < wanted.end:
        yield f"{place} ends at offset {ends[place]}, before {wanted.end}: cut off, or made anew"
    yield from losses({place: read_to}, ends, earliest)


def _taken(rows: Rows, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    try:
        yield from rows.take()
    except RecordError as error:
        raise unreadable(wanted.place, wanted.start, error) from error
