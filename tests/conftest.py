"""Clusters for tests, the proof that each of them left nothing behind, and counts of the proven.

A test that proves something of a number of cases says so with
``record_property("frames of a real cluster are written as they were read", 1)``; the end of the run
prints the sum of each such line.
"""

from __future__ import annotations

import gc
import itertools
import os
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import not_
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from hypothesis import HealthCheck, settings

from logquake.storage.invariants import assert_invariants
from tests.waiting import wait_for

if TYPE_CHECKING:
    from logquake.cluster.api import Cluster

# A gate has to say the same of the same code: examples that nobody saw before are sought with
# HYPOTHESIS_PROFILE=explore, and what they find becomes an @example.
# A starved machine is slow at drawing examples too: that says nothing about the code.
settings.register_profile(
    "gate", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

assert_invariants()

MARK = "LOGQUAKE_TEST_RUN"  # inherited by whatever a test starts


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: begun last, one keeps a worker busy while the other waits."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """What was imported for the tests is there to stay: no collection looks at it again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    proven: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, count in report.user_properties:
            proven[name] += count
    if proven:
        terminalreporter.section("proven")
    for name, count in sorted(proven.items()):
        terminalreporter.write_line(f"{count} {name}")


@contextmanager
def nothing_left_behind(folder: Path) -> Iterator[None]:
    """What the block starts is gone at its end, and so are the temporary folders it made."""
    folder.mkdir()
    with no_process_left_behind(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield
    assert not list(folder.iterdir()), "folders were left behind"


@contextmanager
def no_process_left_behind() -> Iterator[None]:
    """What the block starts, and what that starts, is gone soon after its end."""
    mark = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, mark)
        yield
    try:
        wait_for("end of the processes that were started", lambda: _marked(mark), not_)
    finally:
        for process in _marked(mark):
            process.kill()


def _marked(mark: str) -> list[psutil.Process]:
    """Those that live: one that is dead and whose parent is too waits for init to bury it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue  # it ended meanwhile, or is another user's
    return found


@pytest.fixture
def leaves_nothing(tmp_path: Path) -> Iterator[None]:
    with nothing_left_behind(tmp_path / "temporary"):
        yield


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers for all tests of a module, which notice failures fast.

    Records stay, however old their times: many tests write what looks years old. Leaders stay
    too, however long a module takes.
    """
    from logquake.cluster.api import Cluster

    folder = tmp_path_factory.mktemp("cluster")
    config = {"log.retention.ms": -1, "auto.leader.rebalance.enable": "false"}
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=3, config=config) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def _topic_numbers() -> Iterator[int]:
    return itertools.count()


@pytest.fixture
def topic(cluster: Cluster, _topic_numbers: Iterator[int]) -> Callable[..., str]:
    """Make topics with names of their own: ``topic(partitions=3, replicas=3, **config)``.

    A config key is written with '_' for '.'. Every broker tells of the topic then: the controller
    answers when it has told a leader, and some clients take a broker that was not told yet for a
    change of the topic.
    """

    def create(*, partitions: int = 1, replicas: int = 3, **config: object) -> str:
        name = f"topic-{next(_topic_numbers)}"
        cluster.create_topic(
            name,
            partitions=partitions,
            replication_factor=replicas,
            config={key.replace("_", "."): value for key, value in config.items()},
        )
        return name

    return create
