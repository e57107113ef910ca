"""Options that several commands share, and those that go together."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.produce import MB, Bound
from benchmarks.quiet import wait_until_quiet
from benchmarks.report import Output
from benchmarks.rounds import Plan
from benchmarks.running import running_targets
from benchmarks.storage.works import Work
from benchmarks.target import Target

Rounds = Annotated[int, typer.Option("--rounds", "-r", min=1, help="Rounds a case.")]
Peers = Annotated[
    list[str] | None,
    typer.Option("--peer", help="NAME=HOST:PORT[,HOST:PORT...][,pids=PID,...]; may be repeated."),
]
Kafka = Annotated[
    bool, typer.Option("--kafka", help="Start Apache Kafka too, from LOGQUAKE_KAFKA_LIBS.")
]
Own = Annotated[bool, typer.Option(help="Start a cluster of our own and measure it.")]
Format = Annotated[Output, typer.Option("--output", "-o")]
MegaBytes = Annotated[int, typer.Option("--megabytes", min=1, help="Payload a run, at most.")]
Seconds = Annotated[float, typer.Option("--seconds", min=0.1, help="Length of a run, at most.")]
WarmUp = Annotated[
    float, typer.Option("--warm-up", help="Seconds a case and target, at most, to get warm.")
]
Few = Annotated[
    bool, typer.Option("--few", help="Only the cases that say most, in a third of the time.")
]
Budget = Annotated[
    float, typer.Option("--budget", help="Seconds after which only first rounds are run.")
]
Messages = Annotated[int, typer.Option("--messages", min=100, help="Messages a run, at most.")]
TimedRecords = Annotated[
    int, typer.Option("--records", min=100, help="That are timed, one every 50 ms.")
]
Works = Annotated[list[Work] | None, typer.Argument(help="What to measure.")]
Folder = Annotated[
    Path, typer.Option(exists=True, file_okay=False, help="On the disk that logs are to be on.")
]
Partitions = Annotated[
    list[int] | None, typer.Argument(help="Of three replicas, over three brokers.", min=30)
]
HistoryRows = Annotated[list[int] | None, typer.Argument(help="Of each history.", min=1_000)]
HistoryPartitions = Annotated[int, typer.Option("--partitions", min=1, help="It is about.")]
ShareRows = Annotated[
    int, typer.Option("--rows-of-a-share", min=1, help="Of whole partitions, in memory at once.")
]
BySpark = Annotated[bool, typer.Option("--spark", help="By the Spark job, without replicas.")]
Kills = Annotated[int, typer.Option("--kills", min=1, help="Of each kind of victim, a client.")]
JavaClient = Annotated[
    bool, typer.Option("--java", help="Kafka's own client too, from LOGQUAKE_KAFKA_LIBS.")
]
Load = Annotated[int, typer.Option("--load", min=0, help="Busy loops beside it.")]
Brokers = Annotated[int, typer.Option("-n", "--brokers", min=3)]

ROUNDS = 3
WARM_UP_S = 45.0
BRIEF_WARM_UP_S = 10.0
MEGABYTES = 512
SECONDS = 4.0
FEW_SECONDS = 1.5
FEW_MEGABYTES = 256
MESSAGES = 2_000
FOLDER = Path(tempfile.gettempdir())
BRIEF_BUDGET_S = 240.0
MANY_BUDGET_S = 390.0
BUDGET_S = 480.0  # the cases that are left then still get a first round each, without warm-up


@dataclass(frozen=True)
class Whom:
    """Who is measured."""

    own: Own = True
    kafka: Kafka = False
    peer: Peers = None

    def running(self) -> AbstractContextManager[list[Target]]:
        return running_targets(own=self.own, kafka=self.kafka, peers=self.peer)


@dataclass(frozen=True)
class Size:
    """Of a run: whichever bound is reached first."""

    megabytes: MegaBytes = MEGABYTES
    seconds: Seconds = SECONDS

    @property
    def bound(self) -> Bound:
        return Bound(self.megabytes * MB, self.seconds)


@dataclass(frozen=True)
class BriefSize(Size):
    """The same of a command with many short cases."""

    megabytes: MegaBytes = FEW_MEGABYTES
    seconds: Seconds = FEW_SECONDS


@dataclass(frozen=True)
class Repeats:
    rounds: Rounds = ROUNDS
    warm_up: WarmUp = WARM_UP_S

    def plan(self, targets: Sequence[Target], deadline: float = float("inf")) -> Plan:
        """A machine that does nothing else is waited for before each case."""
        return Plan(self.rounds, self.warm_up, deadline, before=lambda: wait_until_quiet(targets))


@dataclass(frozen=True)
class BriefRepeats:
    """Of a command with many short cases, which ends on time whatever the machine."""

    rounds: Rounds = ROUNDS
    warm_up: WarmUp = BRIEF_WARM_UP_S
    budget: Budget = BRIEF_BUDGET_S

    def plan(self, targets: Sequence[Target]) -> Plan:
        """Its time begins now."""
        return Repeats(self.rounds, self.warm_up).plan(targets, time.monotonic() + self.budget)


@dataclass(frozen=True)
class ManyRepeats(BriefRepeats):
    """The same of one that measures many targets, each run in a process of its own."""

    budget: Budget = MANY_BUDGET_S


OURS = Whom()
USUAL_SIZE, BRIEF_SIZE = Size(), BriefSize()
USUAL_REPEATS, BRIEF_REPEATS, MANY_REPEATS = Repeats(), BriefRepeats(), ManyRepeats()
