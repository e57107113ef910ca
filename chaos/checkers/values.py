"""Which value stands at which offset, for whoever looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import NONE, Column, pick
from logquake.chaos.evidence.stored import MISSING
from logquake.chaos.history.outcomes import Outcome


def no_phantom(case: Case) -> Iterator[Violation]:
    """Every record below the high watermark has an ok or unknown send; a refused send is in no
    committed prefix. Of partitions to which workloads send, and nobody else.
    """
    sends, partitions = case.clients.sends, case.clients.partitions
    for partition, log in case.references():
        index = partitions.known(partition)
        if not sends.is_sent_to(index):
            continue
        below = log.offsets < case.high_watermarks[partition]
        offsets, values = log.offsets[below], log.values[below]
        at = sends.find(index, values)
        for problem, wrong in (
            ("were sent by nobody", at < 0),
            ("were refused", pick(sends.outcome, at) == int(Outcome.REFUSED)),
        ):
            if wrong.any():
                first = int(np.flatnonzero(wrong)[0])
                text = (
                    f"{int(wrong.sum())} records in {partition} {problem}, the first at offset "
                    f"{offsets[first]}, number {values[first]}"
                )
                yield case.violation("no phantom", text, partition)


def one_value(case: Case) -> Iterator[Violation]:
    """One value at an offset, across acks, what was read, and the ISR's committed prefixes.

    Of acks those count that promise something: what others acked may have made way.
    """
    for partition, (offsets, values) in _claims(case).items():
        offsets, values = _distinct(offsets, values)
        yield from _conflicts(case, partition, offsets, values)
        for broker, log in case.members(partition):
            if log is None:
                continue
            there = log.values_at(offsets)
            wrong = (there != values) & (there != MISSING) & (offsets >= log.start)
            if wrong.any():
                at = int(np.flatnonzero(wrong)[0])
                text = (
                    f"offset {offsets[at]} of {partition} was told to be number {values[at]}, "
                    f"on broker {broker} it is {there[at]}; so are {int(wrong.sum())} in all"
                )
                yield case.violation("one value", text, partition)


def _claims(case: Case) -> dict[str, tuple[Column, Column]]:
    """By partition, offsets and values; of what was read only that which no ack has said."""
    sends = case.clients.sends
    found: dict[str, list[tuple[Column, Column]]] = {}
    for partition, at in case.by_partition(case.is_promised):
        found.setdefault(partition, []).append((sends.offset[at], sends.number[at]))
    acked = np.where(case.is_promised, sends.offset, NONE)
    for partition, read in case.reads():
        at = sends.find(case.clients.partitions.known(partition), read.value)
        news = read.where(pick(acked, at) != read.offset)
        found.setdefault(partition, []).append((news.offset, news.value))
    return {
        partition: (
            np.concatenate([offsets for offsets, _ in pieces]),
            np.concatenate([values for _, values in pieces]),
        )
        for partition, pieces in found.items()
    }


def _distinct(offsets: Column, values: Column) -> tuple[Column, Column]:
    """Each claim once, by offset and value."""
    order = np.lexsort((values, offsets))
    offsets, values = offsets[order], values[order]
    is_new = (np.diff(offsets, prepend=-1) != 0) | (np.diff(values, prepend=-1) != 0)
    return offsets[is_new], values[is_new]


def _conflicts(case: Case, partition: str, offsets: Column, values: Column) -> Iterator[Violation]:
    same = np.diff(offsets) == 0
    if same.any():
        at = int(np.flatnonzero(same)[0])
        text = (
            f"offset {offsets[at]} of {partition} was told to be number {values[at]} and number "
            f"{values[at + 1]}; so are {int(same.sum())} offsets"
        )
        yield case.violation("one value", text, partition)


def repeatable_read(case: Case) -> Iterator[Violation]:
    """polled (o, v) means that every later leader has v at o.

    What later leaders had is told by the last one's log; and by what was read from them.
    """
    polls = case.clients.polls
    for partition, read in case.reads():
        log = case.reference(partition)
        if log is None:
            continue
        wrong = ~case.is_kept(partition, log, read.value, read.offset)
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            run = int(read.run[first])
            text = (
                f"{case.clients.processes[int(polls.process[run])]} read number "
                f"{read.value[first]} at offset {read.offset[first]} of {partition}, which is not "
                f"there any more; so are {int(wrong.sum())} in all"
            )
            yield case.violation("repeatable read", text, partition, int(polls.at_us[run]))
