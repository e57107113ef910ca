"""The same records sent, and read, by each client in turn, at one broker of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.libraries.load import Library, Load, Work
from benchmarks.rounds import Case
from benchmarks.topics import scratch_topic

_ANSWER_TIMEOUT_S = 120.0
_FEW, _MANY = 6, 1_000  # partitions


@dataclass(frozen=True, slots=True)
class Client:
    """A library that is a client of that cluster."""

    library: Library
    bootstrap: str

    @property
    def name(self) -> str:
        return self.library.value


@dataclass(frozen=True, slots=True)
class Kind:
    title: str
    record_bytes: int
    records: int
    partitions: int = _FEW
    one_in_flight: bool = False
    work: Work = Work.PRODUCE


KINDS = (
    Kind("produce 100 B", 100, 500_000),
    Kind("produce 1 KiB", 1024, 200_000),
    Kind("produce 100 B, one in flight", 100, 5_000, one_in_flight=True),
    Kind("produce 100 B, 1,000 partitions", 100, 500_000, partitions=_MANY),
    Kind("consume 100 B", 100, 1_000_000, work=Work.CONSUME),
    Kind("consume 1 KiB", 1024, 300_000, work=Work.CONSUME),
    Kind("consume 100 B, 1,000 partitions", 100, 1_000_000, partitions=_MANY, work=Work.CONSUME),
)


def clients_of(bootstrap: str) -> list[Client]:
    return [Client(library, bootstrap) for library in Library]


def library_cases(max_seconds: float, kinds: Sequence[Kind] = KINDS) -> list[Case[Client]]:
    return [_case(kind, max_seconds) for kind in kinds]


def _case(kind: Kind, max_seconds: float) -> Case[Client]:
    return Case(kind.title, lambda client: run(client, kind, max_seconds))


def run(client: Client, kind: Kind, max_seconds: float) -> Figures:
    """On a new topic. Raises BenchmarkError for a client that fails."""
    with scratch_topic(client.bootstrap, kind.partitions, 1) as topic:
        load = Load(
            client.bootstrap,
            topic,
            kind.record_bytes,
            kind.records,
            max_seconds,
            kind.one_in_flight,
        )
        if kind.work == Work.CONSUME:  # what is there to be read is written by one and the same
            _run_child(Library.CONFLUENT, replace(load, max_seconds=_ANSWER_TIMEOUT_S))
            # The first record, which tells that a producer stands, is one more.
            load = replace(load, work=Work.CONSUME, records=kind.records + 1)
        return _run_child(client.library, load)


def _run_child(library: Library, load: Load) -> Figures:
    try:
        child = subprocess.run(
            [sys.executable, "-m", "benchmarks.libraries.child", library, load.text()],
            stdout=subprocess.PIPE,
            timeout=load.max_seconds + _ANSWER_TIMEOUT_S,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise BenchmarkError(f"{library.value}: {error}") from error
    figures: Figures = json.loads(child.stdout)
    return figures
