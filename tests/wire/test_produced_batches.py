"""Odd batches are accepted or refused as by a leader of Kafka 3.9.1, and stored as the same bytes.

Kafka's verdicts on some are kept; with LOGQUAKE_KAFKA_LIBS its LogValidator is asked about others,
LOGQUAKE_DAMAGED_EACH times as many. UPDATE_VECTORS=1 stores its verdicts anew.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.wire.produced_cases import difference, produced, store, stored, verdict_here
from tests.wire.records_oracle import Produced, RecordsOracle, Verdict, records_oracle

KEPT = 300
PIECE = 1000
PIECES = int(os.environ.get("LOGQUAKE_DAMAGED_EACH", "2"))

Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def kafka() -> Iterator[RecordsOracle]:
    libs, java = os.environ.get("LOGQUAKE_KAFKA_LIBS"), shutil.which("java")
    if not libs or java is None:
        pytest.skip("no java, or LOGQUAKE_KAFKA_LIBS does not name a folder with Kafka's jars")
    with records_oracle(java, Path(libs)) as oracle:
        yield oracle


def test_odd_batches_are_judged_as_kafka_judged_them(record_property: Record) -> None:
    counts = counted(list(stored()))
    assert sum(counts.values()) == KEPT
    report(counts, record_property)


@pytest.mark.maven
def test_odd_batches_are_judged_as_kafka_judges_them(
    kafka: RecordsOracle, record_property: Record
) -> None:
    random, counts = Random(PIECES), Counter[str]()
    for _ in range(PIECES):
        cases = [produced(random) for _ in range(PIECE)]
        counts += counted(list(zip(cases, kafka.judge(cases), strict=True)))
    report(counts, record_property)


@pytest.mark.maven
def test_the_kept_verdicts_are_kafkas(kafka: RecordsOracle) -> None:
    if os.environ.get("UPDATE_VECTORS"):
        random = Random(KEPT)
        cases = [produced(random) for _ in range(KEPT)]
        store(list(zip(cases, kafka.judge(cases), strict=True)))
    kept = list(stored())
    for (case, was), now in zip(kept, kafka.judge(case for case, _ in kept), strict=True):
        assert (now.error, now.record_errors) == (was.error, was.record_errors)
        assert now.appended == was.appended, case


def counted(judged: list[tuple[Produced, Verdict]]) -> Counter[str]:
    """How many ended how; none may differ for no reason."""
    counts = Counter[str]()
    for case, theirs in judged:
        ours = verdict_here(case)
        why = difference(case, ours, theirs)
        assert why != "", f"{case}\n{ours}\n{theirs}"
        counts[why or ("refused alike" if ours.error else "stored alike")] += 1
    return counts


def report(counts: Counter[str], record_property: Record) -> None:
    for how, count in sorted(counts.items()):
        record_property(f"odd batches {how}, of those that Kafka's leader judged", count)
