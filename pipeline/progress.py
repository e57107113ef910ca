"""What a streaming query tells of itself: how far it is behind, partition by partition.

Spark has no place for a Python source's own figures in a query's progress, but for offsets: where
the batch ended, and where the partitions did when it was planned. The connector's metrics of the
same are the greatest, least and average of these lags.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from logquake.pipeline.source.admission import Document, from_document
from logquake.wire.topic_partition import TopicPartition


def lags(progress: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """Records that each partition had beyond the batch; none of sources that tell no latest offset,
    or whose offsets are not of topics.

    ``progress`` is StreamingQuery.lastProgress, a listener's event.progress, or the JSON of either.
    """
    found: dict[TopicPartition, int] = {}
    for source in progress["sources"]:
        latest, end = (_offsets(source[name]) for name in ("latestOffset", "endOffset"))
        found |= {partition: latest[partition] - end.get(partition, 0) for partition in latest}
    return found


def _offsets(told: object) -> dict[TopicPartition, int]:
    """Listeners are told text, others what it says."""
    document = _parsed(told) if isinstance(told, str) else told
    return from_document(document) if _is_document(document) else {}


def _parsed(text: str) -> object:
    """Other sources may tell what is no JSON."""
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return found


def _is_document(found: object) -> TypeGuard[Document]:
    return isinstance(found, Mapping) and all(map(_is_topics, found.values()))


def _is_topics(found: object) -> bool:
    """By partition an offset."""
    return isinstance(found, Mapping) and all(
        partition.isdecimal() and isinstance(offset, int) for partition, offset in found.items()
    )
