"""Replicas' files against each other: the same bytes up to the smallest high watermark.

Invariant: two replicas that agree on a prefix's offsets and epochs hold byte-identical batches.
Only the segment files are read, with the wire codec; batches are compared whole, so that replicas
whose segments were rolled at different places compare equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from logquake.wire.records import iterate_batches


@dataclass(frozen=True, slots=True)
class ReplicaDifference:
    """The first batch at which two replicas differ."""

    partition: str
    brokers: tuple[int, int]
    offset: int
    what: str

    def __str__(self) -> str:
        one, other = self.brokers
        return f"{self.partition}@{self.offset}: brokers {one} and {other} differ: {self.what}"


@dataclass(frozen=True, slots=True)
class ReplicaComparison:
    partitions: int
    bytes_compared: int
    differences: tuple[ReplicaDifference, ...]


def compare_replicas(
    log_dirs: Mapping[int, Path], topic: str, ends: Mapping[int, int]
) -> ReplicaComparison:
    """Compare every partition of a topic over the brokers whose log directory holds it.

    ``ends`` gives each partition's end: the first offset that is not compared (the high
    watermark). A replica that ends before it is a difference.
    """
    compared = 0
    differences = []
    for partition, end in sorted(ends.items()):
        name = f"{topic}-{partition}"
        holders = [b for b in sorted(log_dirs) if (log_dirs[b] / name).is_dir()]
        first, others = holders[0], holders[1:]
        for other in others:
            size, difference = _compare(
                name, (first, other), log_dirs[first] / name, log_dirs[other] / name, end
            )
            compared += size
            if difference is not None:
                differences.append(difference)
    return ReplicaComparison(len(ends), compared, tuple(differences))


def _compare(
    name: str, brokers: tuple[int, int], one: Path, other: Path, end: int
) -> tuple[int, ReplicaDifference | None]:
    compared = 0
    theirs = _batches(other)
    reached = 0
    for offset, next_offset, batch in _batches(one):
        if offset >= end:
            break
        other_batch = next(theirs, None)
        if other_batch is None:
            return compared, ReplicaDifference(name, brokers, offset, "the second one ends here")
        if other_batch[2] != batch:
            return compared, ReplicaDifference(name, brokers, offset, _what(batch, other_batch))
        compared += len(batch)
        reached = next_offset
    if reached < end:
        return compared, ReplicaDifference(name, brokers, reached, f"the end is {end}")
    return compared, None


Batch = tuple[int, int, bytes]  # base offset, next offset, the whole batch


def _batches(directory: Path) -> Iterator[Batch]:
    for segment in sorted(directory.glob("*.log")):
        content = memoryview(segment.read_bytes())
        for position, header in iterate_batches(content):
            whole = content[position : position + header.size]
            yield header.base_offset, header.next_offset, bytes(whole)


def _what(batch: bytes, other: Batch) -> str:
    if len(batch) != len(other[2]):
        return f"{len(batch)} against {len(other[2])} bytes"
    at = next(i for i, (a, b) in enumerate(zip(batch, other[2], strict=True)) if a != b)
    return f"byte {at} of the batch"
