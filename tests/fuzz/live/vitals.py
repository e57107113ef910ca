"""Memory and descriptors of brokers over time, what their journals say, and their last words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

import psutil

from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.state import Phase

# Nothing that a client sends may bring a broker to say these.
NEVER = frozenset(
    {
        "accept-failed",
        "broker-down",
        "committed-truncated",
        "controller-resigned",
        "coordinator-records-left-out",
        "journal-gap",
        "log-dir-failed",
        "partition-move-refused",
        "records-damaged",
        "replica-failed",
        "zookeeper-session-expired",
    }
)
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    grown_mib: float = 96.0  # since the first sample
    trend_mib: float = 16.0  # from the second third of the samples to the last
    descriptors: int = 200  # more than at first


@dataclass(slots=True)
class Sample:
    sent: int
    resident_mib: float
    descriptors: int


@dataclass
class Vitals:
    kafka: RunningCluster
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def take(self, sent: int) -> None:
        for member in self.kafka.state().brokers:
            if member.pid is None:
                continue
            process = psutil.Process(member.pid)
            resident_mib = process.memory_info().rss / MIB
            sample = Sample(sent, resident_mib, process.num_fds())
            self.samples.setdefault(member.name, []).append(sample)

    def complaints(self, bounds: Bounds) -> Iterator[str]:
        for member in self.kafka.state().brokers:
            if member.phase is not Phase.RUNNING or member.ended is not None:
                yield f"{member.name} is {member.phase}, {member.ended}"
            said = self.kafka.layout.log_of(member.name).read_text()
            if said:
                yield f"{member.name} said {said[-2000:]}"
        for name, samples in self.samples.items():
            yield from (f"{name} {why}" for why in _growth(samples, bounds))
        yield from (f"{what}: {n} times in the journals" for what, n in self._never().items())

    def events(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for path in self.kafka.layout.events.glob("*.jsonl*"):
            for line in path.read_text().splitlines():
                found[json.loads(line)["what"]] += 1
        return found

    def _never(self) -> Counter[str]:
        return Counter({what: n for what, n in self.events().items() if what in NEVER})


def _growth(samples: list[Sample], bounds: Bounds) -> Iterator[str]:
    first, last = samples[0], samples[-1]
    if last.resident_mib - first.resident_mib > bounds.grown_mib:
        yield f"grew from {first.resident_mib:.0f} to {last.resident_mib:.0f} MiB"
    third = len(samples) // 3
    if third:
        amid = median(each.resident_mib for each in samples[third : 2 * third])
        late = median(each.resident_mib for each in samples[2 * third :])
        if late - amid > bounds.trend_mib:
            yield f"still grows: {amid:.0f} MiB amid the run, {late:.0f} MiB late"
    if last.descriptors - first.descriptors > bounds.descriptors:
        yield f"has {last.descriptors} descriptors, {first.descriptors} at first"
