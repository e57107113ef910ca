"""What pytest loads of us, in every project of an environment that has logquake installed.

So it imports nothing but pytest here, and the rest when a test asks for a cluster.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from logquake.chaos.plugin.awaitable import AwaitableCluster
    from logquake.chaos.plugin.pool import ClusterPool, Lent
    from logquake.chaos.plugin.tally import Tally
    from logquake.chaos.plugin.tested import TestedCluster

SEEDS = 10**8
SEED_OF_WORKER = "logquake_seed"  # in what a worker of xdist is told
TALLY_OF_WORKER = "logquake_tally"  # in what it tells at its end
REPORTS = "logquake-reports"
CLUSTERS_AT_A_TIME = 2

SEED = pytest.StashKey[str]()
TALLY = pytest.StashKey["Tally"]()
LENT = pytest.StashKey["list[Lent]"]()
KEPT = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("logquake", "Kafka clusters that are broken on purpose")
    group.addoption(
        "--logquake-keep",
        action="store_true",
        help="the clusters of the first test that fails run on, to be looked at",
    )
    group.addoption("--logquake-seed", metavar="SEED", help="draws random targets as it did then")
    group.addoption(
        "--logquake-reports",
        metavar="DIR",
        default=REPORTS,
        help=f"where what failed tests leave is kept [default: {REPORTS}]",
    )
    parser.addini(
        "logquake_clusters",
        f"how many clusters may run at a time for later tests [default: {CLUSTERS_AT_A_TIME}]",
        default=str(CLUSTERS_AT_A_TIME),
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "logquake(brokers=3, config={}, preset=..., fresh=False, ...): what cluster the fixture "
        "logquake is: the keywords of logquake.cluster.api.Cluster; fresh: one of its own",
    )
    config.addinivalue_line(
        "markers",
        "logquake_topic(partitions=1, replication_factor=3, config={}): what the fixture topic is",
    )
    told = getattr(config, "workerinput", {}).get(SEED_OF_WORKER)
    asked = told or config.getoption("logquake_seed")
    config.stash[SEED] = asked or str(random.SystemRandom().randrange(SEEDS))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of xdist is about to start: all of them have one seed."""
    node.workerinput[SEED_OF_WORKER] = node.config.stash[SEED]


def pytest_sessionfinish(session: pytest.Session) -> None:
    tally = session.config.stash.get(TALLY, None)
    if tally is not None and hasattr(session.config, "workeroutput"):
        session.config.workeroutput[TALLY_OF_WORKER] = tally.to_json()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of xdist has ended, or was killed and tells nothing."""
    told = getattr(node, "workeroutput", {}).get(TALLY_OF_WORKER)
    if told is not None:
        _tally(node.config).add(told)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tally = config.stash.get(TALLY, None)
    for line in () if tally is None else tally.lines():
        terminalreporter.write_line(f"logquake: {line}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and report.when != "teardown" and (all_lent := item.stash.get(LENT, None)):
        if item.config.getoption("logquake_keep") and not item.session.stash.get(KEPT, False):
            item.session.stash[KEPT] = True
            for lent in all_lent:
                lent.is_kept = True
        for number, lent in enumerate(all_lent, start=1):
            report.sections.append(("logquake", _report(item, lent, number)))
    return report


@pytest.fixture(scope="session")
def logquake_options() -> Mapping[str, Any]:
    """Override it in a conftest of yours: what all tests ask for that do not say otherwise."""
    return {}


@pytest.fixture
def logquake(
    request: pytest.FixtureRequest,
    logquake_options: Mapping[str, Any],
    logquake_pool: ClusterPool,
) -> Iterator[TestedCluster]:
    """A cluster that runs, clean; the next test may have the same one, clean again."""
    from logquake.chaos.plugin.asked import CLUSTER_MARK, asked

    marks = [mark.kwargs for mark in request.node.iter_markers(CLUSTER_MARK)]
    wanted = asked([getattr(request, "param", {}), *marks, logquake_options])
    with logquake_pool.lent(wanted, request.node.nodeid) as lent:
        request.node.stash.setdefault(LENT, []).append(lent)
        yield lent.cluster


@pytest.fixture(scope="session")
def logquake_session(
    logquake_options: Mapping[str, Any], logquake_pool: ClusterPool
) -> Iterator[TestedCluster]:
    """The cluster of logquake_options for fixtures of a session or a module.

    Tests without a marker are lent the same one. What is in it before a test, stays.
    """
    from logquake.chaos.plugin.asked import asked

    with logquake_pool.shared(asked([logquake_options])) as cluster:
        yield cluster


@pytest.fixture
def logquake_factory(
    request: pytest.FixtureRequest,
    logquake_options: Mapping[str, Any],
    logquake_pool: ClusterPool,
) -> Iterator[Callable[..., TestedCluster]]:
    """``logquake_factory(brokers=1)``: more clusters, which end with the test."""
    from logquake.chaos.plugin.asked import asked

    with ExitStack() as stack:

        def start(**options: Any) -> TestedCluster:
            wanted = asked([{**options, "fresh": True}, logquake_options])
            lent = stack.enter_context(logquake_pool.lent(wanted, request.node.nodeid))
            request.node.stash.setdefault(LENT, []).append(lent)
            return lent.cluster

        yield start


@pytest.fixture
def topic(request: pytest.FixtureRequest, logquake: TestedCluster) -> str:
    """The name of a topic that is there for this test alone."""
    from logquake.chaos.plugin.asked import TOPIC_MARK
    from logquake.chaos.plugin.topic_names import topic_of

    mark = request.node.get_closest_marker(TOPIC_MARK)
    return logquake.create_topic(topic_of(request.node.name), **(mark.kwargs if mark else {}))


@pytest.fixture
def logquake_async(logquake: TestedCluster) -> AwaitableCluster:
    """The cluster of the fixture logquake for a test that is a coroutine."""
    from logquake.chaos.plugin.awaitable import AwaitableCluster

    return AwaitableCluster(logquake)


@pytest.fixture
def bootstrap_servers(logquake: TestedCluster) -> str:
    return logquake.bootstrap_servers


@pytest.fixture(scope="session")
def logquake_pool(request: pytest.FixtureRequest) -> Iterator[ClusterPool]:
    """Behind the others: the clusters of this session, or of this worker's."""
    from logquake.chaos.plugin.pool import ClusterPool
    from logquake.chaos.plugin.tested import TestedCluster

    config = request.config
    pool = ClusterPool(
        int(config.getini("logquake_clusters")),
        config.stash[SEED],
        _tally(config),
        lambda options: TestedCluster(**options).open(),
    )
    yield pool
    pool.close()


def _tally(config: pytest.Config) -> Tally:
    from logquake.chaos.plugin.tally import Tally

    return config.stash.setdefault(TALLY, Tally())


def _report(item: pytest.Item, lent: Lent, number: int) -> str:
    from logquake.chaos.plugin.failure_report import FailedTest, folder_name, report_failure
    from logquake.cluster.errors import ClusterError

    config = item.config
    name = folder_name(item.nodeid) + (f"-{number}" if number > 1 else "")
    folder = config.rootpath / config.getoption("logquake_reports") / name
    test = FailedTest(config.stash[SEED], _command_for(item), folder)
    try:
        return report_failure(test, lent)
    except (ClusterError, OSError) as error:
        return f"the cluster can't be looked at: {error}"


def _command_for(item: pytest.Item) -> str:
    words = ["pytest", item.nodeid, f"--logquake-seed={item.config.stash[SEED]}"]
    order = item.config.getoption("randomly_seed", None)
    if isinstance(order, int):
        words += ["-p", f"randomly_seed={order}"]
    return shlex.join(words)
