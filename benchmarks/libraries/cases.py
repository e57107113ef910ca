"""The same records sent by each client, in turn, to one broker of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.libraries.load import Library, Load
from benchmarks.rounds import Case
from benchmarks.topics import scratch_topic

_ANSWER_TIMEOUT_S = 120.0
_FEW, _MANY = 6, 1_000  # partitions


@dataclass(frozen=True, slots=True)
class Client:
    """A library that writes to that cluster."""

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


KINDS = (
    Kind("produce 100 B", 100, 500_000),
    Kind("produce 1 KiB", 1024, 200_000),
    Kind("produce 100 B, one in flight", 100, 5_000, one_in_flight=True),
    Kind("produce 100 B, 1,000 partitions", 100, 500_000, partitions=_MANY),
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
        try:
            child = subprocess.run(
                [sys.executable, "-m", "benchmarks.libraries.child", client.library, load.text()],
                stdout=subprocess.PIPE,
                timeout=max_seconds + _ANSWER_TIMEOUT_S,
                check=True,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise BenchmarkError(f"{client.name}: {error}") from error
    figures: Figures = json.loads(child.stdout)
    return figures
