"""Replicas' files, each by itself and against each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.stored import MISSING, StoredLog

# Offsets, sizes, epochs and checksums alike are the same bytes: a checksum covers all the rest.
_IDENTITY = ["first", "next", "epoch", "size", "crc"]


def log_matching(case: Case) -> Iterator[Violation]:
    """The same (offset, epoch) on two replicas means byte-identical prefixes, and up to the high
    watermark all members of the ISR are the same.

    Of compacted partitions, which each broker compacts by itself, records are compared.
    """
    for partition, log in case.references():
        members = {broker for broker, _ in case.members(partition)}
        for broker, other in case.replicas(partition).items():
            if other is log:
                continue
            mark = case.high_watermarks[partition] if broker in members else 0
            compare = _records_part if case.is_compacted(partition) else _bytes_part
            at = compare(log, other, mark)
            if at is not None:
                text = (
                    f"brokers {log.broker} and {broker} differ in {partition} at offset {at}, "
                    "before what both have"
                )
                yield case.violation("log matching", text, partition)


def _bytes_part(one: StoredLog, other: StoredLog, mark: int) -> int | None:
    """The offset at which they part; None where they do not, or where they may."""
    start = max(one.start, other.start)
    here = one.batches[one.batches["first"] >= start]
    there = other.batches[other.batches["first"] >= start]
    size = min(len(here), len(there))
    same = np.ones(size, np.bool_)
    for name in _IDENTITY:
        same &= here[name][:size] == there[name][:size]
    if same.all():
        shorter = min(one, other, key=lambda log: log.end)
        return shorter.end if shorter.end < mark else None
    at = int(np.argmin(same))
    parted = int(min(here["first"][at], there["first"][at]))
    common = np.intersect1d(_positions(here[at:]), _positions(there[at:]))
    return parted if len(common) or parted < mark else None


def _positions(batches: np.ndarray) -> np.ndarray:
    positions: np.ndarray = batches["first"] * (1 << 20) + batches["epoch"]
    return positions


def _records_part(one: StoredLog, other: StoredLog, _mark: int) -> int | None:
    there = other.values_at(one.offsets)
    ends = min(one.end, other.end)
    wrong = (there != one.values) & (there != MISSING) & (one.offsets < ends)
    return int(one.offsets[np.argmax(wrong)]) if wrong.any() else None


def shape(case: Case) -> Iterator[Violation]:
    """Checksums are right; offsets are dense before compaction; epochs never fall; the epoch
    checkpoint equals the one that follows from the log.
    """
    for partition in sorted(case.evidence.logs):
        for broker, log in case.replicas(partition).items():
            for problem in _problems(log, is_compacted=case.is_compacted(partition)):
                text = f"{partition} on broker {broker}: {problem}"
                yield case.violation("shape", text, partition)


def _problems(log: StoredLog, *, is_compacted: bool) -> Iterator[str]:
    batches = log.batches
    if log.damage is not None:
        yield f"damaged {log.damage}"
    gaps = np.flatnonzero(batches["first"][1:] != batches["next"][:-1])
    if is_compacted:
        gaps = gaps[batches["first"][gaps + 1] < batches["next"][gaps]]
    if len(gaps):
        at = int(gaps[0])
        yield f"offset {batches['first'][at + 1]} follows {batches['next'][at] - 1}"
    falls = np.flatnonzero(np.diff(batches["epoch"].astype(np.int64)) < 0)
    if len(falls):
        at = int(falls[0])
        yield f"epoch {batches['epoch'][at + 1]} at {batches['first'][at + 1]} follows a later one"
    yield from _checkpoint_problems(log, is_compacted=is_compacted)


def _checkpoint_problems(log: StoredLog, *, is_compacted: bool) -> Iterator[str]:
    if log.damage is None and len(log.batches):
        yield from _missing_epochs(log, is_compacted=is_compacted)
        yield from _misplaced_epochs(log)


def _misplaced_epochs(log: StoredLog) -> Iterator[str]:
    """Of an epoch without records too: none that is earlier lies behind its beginning, and none of
    its own before. The first one may have been moved up to where the log starts.
    """
    epochs, ends = log.batches["epoch"], log.batches["next"]
    for nth, (epoch, begins) in enumerate(log.epochs):
        if begins > log.end:
            yield f"leader-epoch-checkpoint has epoch {epoch} begin at {begins}, behind the end"
            return
        at = int(np.searchsorted(ends, begins, side="right"))  # the batch there, or the next one
        is_early = nth > 0 and at > 0 and epochs[at - 1] >= epoch
        if is_early or (at < len(epochs) and epochs[at] < epoch):
            wrong = at - 1 if is_early else at
            where = f"the batch at {log.batches['first'][wrong]} is of epoch {epochs[wrong]}"
            yield f"leader-epoch-checkpoint has epoch {epoch} begin at {begins}, {where}"
            return


def _missing_epochs(log: StoredLog, *, is_compacted: bool) -> Iterator[str]:
    """An epoch without records may be in the checkpoint alone; what lies before the start of the
    log counts from there.
    """
    written = dict(log.epochs)
    epochs = log.batches["epoch"]
    begins = np.flatnonzero(np.diff(epochs, prepend=epochs[0] - 1))
    for at in begins.tolist():
        epoch, first = int(epochs[at]), int(log.batches["first"][at])
        if epoch < 0:  # of message sets, which know no epochs
            continue
        is_exact = first > log.start and not is_compacted
        noted = written.get(epoch)
        if noted is None or noted > max(first, log.start) or (is_exact and noted != first):
            yield f"epoch {epoch} begins at {first}, leader-epoch-checkpoint says {noted}"
