"""What the next batch of a lake reads: from where the last one ended, new partitions from their
beginning, all together as many records as a batch may have.
"""

from __future__ import annotations

from typing import NamedTuple

from logquake.pipeline.asking import consuming
from logquake.pipeline.jobs.lake.state import LakeState
from logquake.pipeline.source.admission import DataLossError, admitted, losses
from logquake.pipeline.source.options import ReadOptions
from logquake.pipeline.source.planning import OffsetRange, Offsets, ranges_between, select


class Logs(NamedTuple):
    """Where the logs of the wanted partitions begin and end."""

    earliest: Offsets
    latest: Offsets


def look(read: ReadOptions) -> Logs:
    """As they are now. Raises BrokersError."""
    with consuming(read.consumer, "planning a lake") as consumer:
        selected = select(consumer, read)
        return Logs(consumer.beginning_offsets(selected), consumer.end_offsets(selected))


def next_ranges(
    state: LakeState, logs: Logs, most_records: int, *, fail_on_data_loss: bool
) -> list[OffsetRange]:
    """None where the lake has all that there is. Raises DataLossError."""
    read_to = {at: covered.until for at, covered in state.partitions.items()}
    lost = list(losses(read_to, logs.latest, logs.earliest))
    if lost and fail_on_data_loss:
        raise DataLossError.of(lost)
    starts = {at: max(read_to.get(at, begins), begins) for at, begins in logs.earliest.items()}
    return ranges_between(starts, admitted(starts, logs.latest, most_records))
