"""Which value stands at which offset, for whoever looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logquake.chaos.checkers.case import Case
from logquake.chaos.checkers.verdicts import Violation
from logquake.chaos.evidence.clients import Column, pick
from logquake.chaos.evidence.stored import MISSING
from logquake.chaos.history.outcomes import Outcome


def no_phantom(case: Case) -> Iterator[Violation]:
    """Every record below the high watermark has an ok or unknown send; a refused send is in no
    committed prefix. Of partitions to which workloads send, and nobody else.
    """
    clients = case.clients
    written = {clients.partitions[int(p)] for p in np.unique(clients.sends.partition)}
    for partition, log in case.references():
        if partition not in written:
            continue
        below = log.offsets < case.high_watermarks[partition]
        offsets, values = log.offsets[below], log.values[below]
        at = clients.sends.find(values)
        sent_here = pick(clients.sends.partition, at) == clients.partitions.known(partition)
        for problem, wrong in (
            ("were sent by nobody", ~sent_here),
            (
                "were refused",
                sent_here & (pick(clients.sends.outcome, at) == int(Outcome.REFUSED)),
            ),
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
    claims = _claims(case)
    for partition, (offsets, values) in claims.items():
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
    sends, polls = case.clients.sends, case.clients.polls
    found: dict[str, list[tuple[Column, Column]]] = {}
    for partition, at in case.by_partition(case.is_promised):
        found.setdefault(partition, []).append((sends.offset[at], sends.number[at]))
    for partition, at in case.polls_by_partition(polls.value >= 0):
        found.setdefault(partition, []).append((polls.offset[at], polls.value[at]))
    return {
        partition: (
            np.concatenate([offsets for offsets, _ in pieces]),
            np.concatenate([values for _, values in pieces]),
        )
        for partition, pieces in found.items()
    }


def _conflicts(case: Case, partition: str, offsets: Column, values: Column) -> Iterator[Violation]:
    order = np.lexsort((values, offsets))
    offsets, values = offsets[order], values[order]
    same = (np.diff(offsets) == 0) & (np.diff(values) != 0)
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
    for partition, at in case.polls_by_partition(polls.value >= 0):
        log = case.reference(partition)
        if log is None:
            continue
        offsets, values = polls.offset[at], polls.value[at]
        wrong = ~case.is_kept(partition, log, values, offsets)
        if wrong.any():
            first = at[int(np.flatnonzero(wrong)[0])]
            reader = case.clients.processes[int(polls.process[first])]
            text = (
                f"{reader} read number {polls.value[first]} at offset {polls.offset[first]} of "
                f"{partition}, which is not there any more; so are {int(wrong.sum())} in all"
            )
            yield case.violation("repeatable read", text, partition, int(polls.at_us[first]))
