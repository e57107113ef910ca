"""One range of a partition, read on an executor, as Arrow record batches.

Arrow batches of tens of thousands of rows pass to Spark far faster than tuples. Their types must be
exactly those of the schema in record_columns.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from logquake.client.consumer.settings import MAX_DECOMPRESSED_BYTES
from logquake.client.errors import CorruptRecordError
from logquake.client.ranges import stored_range
from logquake.pipeline.asking import consuming
from logquake.pipeline.source.options import ReadOptions
from logquake.pipeline.source.planning import OffsetRange
from logquake.wire.errors import RecordError

if TYPE_CHECKING:
    import pyarrow as pa

    from logquake.pipeline.source.decoding.rows import Rows


def read_range(options: ReadOptions, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    """Raises BrokersError; of offsets that are gone only with failOnDataLoss."""
    from logquake.pipeline.source.decoding.rows import Rows

    with consuming(options.consumer, f"reading {wanted.place}") as consumer:
        rows = Rows(wanted, options.columns, MAX_DECOMPRESSED_BYTES)
        place, end, strict = wanted.place, wanted.end, options.fail_on_data_loss
        for stored in stored_range(consumer, place, wanted.start, end, fail_on_data_loss=strict):
            rows.add(stored)
            if rows.is_full:
                yield from _taken(rows, wanted)
        yield from _taken(rows, wanted)


def _taken(rows: Rows, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    try:
        yield from rows.take()
    except RecordError as error:
        raise CorruptRecordError(f"{wanted.place}: {error}") from error
