"""The invariants by which a run is judged, 26 of them, over what it left behind (chaos/evidence).

    judging.py       judge(): all that the evidence allows; why the others are not judged
    verdicts.py      holds, broken, inconclusive; violations and their chains
    sharing.py       the same, share by share of the partitions: python -m logquake.chaos.checkers
    case.py          what follows from the evidence: who led when, which log counts
    chains.py        what happened to a partition, and why; in sentences (sentences.py)
    retelling.py     many such: what one loss led to is told once
    committed.py     up to where partitions were committed, over time
    fates.py         what became of the sends of transactions
    deleted.py       what was said of topics that no log tells anything of any more
    demands.py       what a run must have shown
    acked.py         1 durable, 2 readable; losses that acks allow
    values.py        3 no phantom, 4 one value, 5 repeatable read
    producers.py     6 idempotence, 7 send order; by the rules of sequences.py
    replicas.py      8 log matching, 9 shape
    leaders.py       10 to 14
    acking.py        18 min ISR, 19 fencing
    decided.py       15 ISR history, 16 one controller, 17 incarnation; by transitions.py
    readers.py       20 polls
    groups.py        21 groups; by progress.py, who held what when and what was committed
    transactions.py  22 atomic, 23 no hang, 24 exactly once
    liveness.py      25 live, 26 not vacuous

Each is a generator over a Case that yields violations, its docstring is its definition. Whatever
has an unknown outcome may have happened or not; nobody is blamed for what retention, DeleteRecords,
compaction or the deletion of a topic took. Wide data are columns: `python -m benchmarks judging`
says what a million rows cost.

Not judged: which error a stale fetch got; what the transactions' coordinator decided before its
markers were written; whether an operation ended within its client's time-out, and whether others
went on while a minority of brokers was broken.
"""

from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import judge
from logquake.chaos.checkers.verdicts import Judgement, Ruling, Verdict, Violation

__all__ = ["Demands", "Judgement", "Ruling", "Verdict", "Violation", "judge"]
