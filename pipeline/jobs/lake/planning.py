"""What the next batch of a lake reads: from where the last one ended, new partitions from their
beginning, all together as many records as a batch may have.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from logquake.pipeline.asking import consuming
from logquake.pipeline.jobs.lake.state import LakeState
from logquake.pipeline.source.admission import DataLossError, admitted, losses
from logquake.pipeline.source.options import ReadOptions
from logquake.pipeline.source.planning import OffsetRange, Offsets, ranges_between, select
from logquake.wire.sentinels import INTERNAL_TOPICS
from logquake.wire.topic_partition import TopicPartition


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
    state: LakeState, logs: Logs, most_records: int, read: ReadOptions
) -> list[OffsetRange]:
    """None where the lake has all that there is. Raises DataLossError."""
    covered = state.partitions.items()
    read_to = {at: each.until for at, each in covered if is_asked_for(at, read)}
    lost = list(losses(read_to, logs.latest, logs.earliest))
    if lost and read.fail_on_data_loss:
        raise DataLossError.of(lost)
    starts = {at: max(read_to.get(at, begins), begins) for at, begins in logs.earliest.items()}
    return ranges_between(starts, admitted(starts, logs.latest, most_records))


def is_asked_for(at: TopicPartition, read: ReadOptions) -> bool:
    """Whether it would be read if it were there: a lake may have had other topics before."""
    if read.topic_pattern is not None:
        is_matched = re.fullmatch(read.topic_pattern, at.topic) is not None
        return is_matched and at.topic not in INTERNAL_TOPICS
    if read.assigned is not None:
        return at.partition in read.assigned.get(at.topic, ())
    return at.topic in (read.topics or ())
