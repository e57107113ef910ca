"""The same records sent, and read, by each client in turn, at one broker of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

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


class FullTopics:
    """What is there to be read: a topic of each kind, written once, by one and the same client.

    They last as long as the ``stack``.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._topics: dict[str, str] = {}

    def of(self, kind: Kind, bootstrap: str) -> str:
        """Raises BenchmarkError."""
        if kind.title not in self._topics:
            topic = self._stack.enter_context(scratch_topic(bootstrap, kind.partitions, 1))
            _run_child(Library.CONFLUENT, _load(kind, bootstrap, topic, _ANSWER_TIMEOUT_S))
            self._topics[kind.title] = topic
        return self._topics[kind.title]


@contextmanager
def library_cases(
    max_seconds: float, kinds: Sequence[Kind] = KINDS
) -> Iterator[list[Case[Client]]]:
    with ExitStack() as stack:
        topics = FullTopics(stack)
        yield [
            Case(kind.title, partial(run, kind=kind, topics=topics, max_seconds=max_seconds))
            for kind in kinds
        ]


def run(client: Client, kind: Kind, topics: FullTopics, max_seconds: float) -> Figures:
    """Raises BenchmarkError for a client that fails."""
    if kind.work == Work.CONSUME:
        load = _load(kind, client.bootstrap, topics.of(kind, client.bootstrap), max_seconds)
        # The first record, which tells that a producer stands, is one more.
        return _run_child(client.library, replace(load, work=kind.work, records=kind.records + 1))
    with scratch_topic(client.bootstrap, kind.partitions, 1) as topic:
        return _run_child(client.library, _load(kind, client.bootstrap, topic, max_seconds))


def _load(kind: Kind, bootstrap: str, topic: str, max_seconds: float) -> Load:
    """To produce that."""
    return Load(bootstrap, topic, kind.record_bytes, kind.records, max_seconds, kind.one_in_flight)


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
