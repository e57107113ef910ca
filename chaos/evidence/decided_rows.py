"""What ZooKeeper's writes decided, as the rows that a controller's journal would have of it.

For brokers that keep none: scenarios say what must be seen by those rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from logquake.chaos.evidence.decisions import Decision, EpochWrite, StateWrite
from logquake.chaos.history.rows import Row
from logquake.cluster.state import ZOOKEEPER
from logquake.wire.sentinels import NO_LEADER


def rows_of_decisions(decisions: Iterable[Decision]) -> Iterator[Row]:
    for sequence, decision in enumerate(decisions, 1):
        if isinstance(decision, StateWrite):
            for what in _kinds(decision):
                yield Row(
                    at_us=decision.at_ms * 1_000,
                    process=ZOOKEEPER,
                    sequence=sequence,
                    what=what,
                    subject=str(decision.partition),
                    epoch=decision.after.leader_epoch,
                    before=None if decision.before is None else list(decision.before.isr),
                    after=list(decision.after.isr),
                )
        elif isinstance(decision, EpochWrite):
            yield Row(
                at_us=decision.at_ms * 1_000,
                process=ZOOKEEPER,
                sequence=sequence,
                what="controller-elected",
                subject="controller",
                epoch=decision.after,
            )


def _kinds(write: StateWrite) -> Iterator[str]:
    before, after = write.before, write.after
    if after.leader == NO_LEADER:
        yield "leader-not-elected"
    elif write.is_unclean:
        yield "unclean-leader-elected"
    elif write.elects:  # the first of a partition too
        yield "leader-elected"
    if before is None:
        return
    if set(after.isr) < set(before.isr):
        yield "isr-shrunk"
    elif set(after.isr) > set(before.isr):
        yield "isr-expanded"
