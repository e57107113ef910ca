"""The calls of the Java program, made by Java's client of 3.9 and by ours, on another release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.releases import releases
from tests.compat.test_admin_beside_java import said_by_ours
from tests.compat.test_java_clients import RUN_S, SOURCES, Lines, sections_of


def told_to_both(
    kind: str,
    properties: Mapping[str, object],
    asked: Sequence[str],
    programs: KafkaPrograms,
    zookeeper: str,
    folder: Path,
) -> tuple[Lines, Lines]:
    """Java's, and ours, each on a broker that nobody has asked anything."""
    with ExitStack() as brokers:
        for_java, for_ours = (
            brokers.enter_context(releases(_made(folder / name), zookeeper, properties))[kind]
            for name in ("java", "python")
        )
        java = programs.compiled(SOURCES)
        threads = brokers.enter_context(ThreadPoolExecutor(1))
        ours = threads.submit(said_by_ours, for_ours.port, asked)
        done = java.complete("JavaClients", *asked, f"127.0.0.1:{for_java.port}", timeout_s=RUN_S)
        assert done.returncode == 0, done.stderr
        return dict(sections_of(done.stdout)), ours.result(RUN_S)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def unlike(ours: Mapping[str, str], javas: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """By call what both say, where they differ."""
    return {call: (ours[call], javas[call]) for call in ours if ours[call] != javas[call]}
