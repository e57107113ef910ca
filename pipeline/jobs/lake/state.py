"""How far a lake is: which offsets of each partition it covers, and with how many rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Covered:
    """Offsets from `first` to before `until`. Those without a row were `lost` before they were
    read, or are transactions' markers and aborted records, or the topic has compacted them away.
    `newest_hour` is `2026-11-23T13`, or "" before the first row.
    """

    first: int
    until: int
    rows: int = 0
    lost: int = 0
    newest_hour: str = ""


@dataclass(frozen=True, slots=True)
class LakeState:
    """`late` rows came after others of a later hour had been committed; `malformed` ones are not
    what the JSON schema says.
    """

    shape: str
    batch: int = 0  # the last one, 0 before the first
    late: int = 0
    malformed: int = 0
    partitions: Mapping[TopicPartition, Covered] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(covered.rows for covered in self.partitions.values())

    def to_document(self) -> dict[str, object]:
        partitions: dict[str, dict[str, object]] = {}
        for at, covered in sorted(self.partitions.items()):
            partitions.setdefault(at.topic, {})[str(at.partition)] = asdict(covered)
        return {
            "shape": self.shape,
            "batch": self.batch,
            "late": self.late,
            "malformed": self.malformed,
            "partitions": partitions,
        }


def from_text(text: str) -> LakeState:
    """What `to_document` said, as JSON. Raises ValueError."""
    try:
        document = json.loads(text)
        partitions = {
            TopicPartition(topic, int(partition)): Covered(**covered)
            for topic, of_topic in document.pop("partitions").items()
            for partition, covered in of_topic.items()
        }
        return LakeState(**document, partitions=partitions)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no state of a lake: {error}") from error
