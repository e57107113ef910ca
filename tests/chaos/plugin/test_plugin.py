"""The plugin as a stranger's project has it: pytest in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from logquake.cluster.layout import Layout
from logquake.cluster.running.cluster import RunningCluster
from tests.conftest import nothing_left_behind

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

PATIENCE_S = 300.0
PRELUDE = """
import pytest
from confluent_kafka import Consumer, Producer


def send(kafka, topic, count=10):
    producer = Producer(kafka.client_config())
    for number in range(count):
        producer.produce(topic, str(number))
    assert producer.flush(60) == 0


"""
CLEAN_AGAIN = """
from logquake.client.admin import (
    AclBindingFilter, AlterConfigOp, ConfigResource, ConfigResourceType,
)
from logquake.cluster.observing.set_configs import was_set_at_run_time
from logquake.cluster.state import Phase
from logquake.wire.acls import *
from logquake.wire.principals import parse_principal

AUTHORIZER = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
}
pytestmark = pytest.mark.logquake(brokers=2, config=AUTHORIZER)
RULE = AclBinding(
    ResourcePattern(ResourceType.TOPIC, "orders", PatternType.LITERAL),
    AccessControlEntry(parse_principal("User:alice"), "*", AclOperation.READ,
                       AclPermissionType.ALLOW),
)
pids = set()


def of_broker(name):
    return ConfigResource(ConfigResourceType.BROKER, name)


@pytest.mark.parametrize("turn", [1, 2])
def test_leaves_everything_behind(logquake, turn):
    pids.add(logquake.state().supervisor_pid)
    assert len(pids) == 1, "not the same cluster"
    assert all(one.phase is Phase.RUNNING for one in logquake.state().members)
    with logquake.admin(60) as admin:
        assert not admin.list_consumer_groups().result().all()
        assert not admin.describe_acls(AclBindingFilter()).result()
        for broker in map(of_broker, "12"):
            told = admin.describe_configs([broker])[broker].result()
            assert not [entry for entry in told.values() if was_set_at_run_time(entry)]
    assert all("__" in entity for entity in logquake.view.configs())
    assert not [topic for topic in logquake.view.topics() if not topic.startswith("__")]

    logquake.create_topic("orders", partitions=2)
    send(logquake, "orders")
    consumer = Consumer({**logquake.client_config(), "group.id": "readers",
                         "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    assert logquake.eventually(lambda: consumer.poll(0.1), timeout=60)
    logquake.wait_group_stable("readers", members=1)
    with logquake.admin(60) as admin:
        changed = admin.incremental_alter_configs({
            of_broker("1"): [AlterConfigOp("log.retention.ms", "7")],
            of_broker(""): [AlterConfigOp("log.cleaner.threads", "2")],
        })
        for done in [*changed.values(), *admin.create_acls([RULE]).values()]:
            done.result()
    if turn == 2:
        consumer.close()  # else the reset has to tell the group that it is gone
    logquake.pause("follower:orders/0")
    logquake.kill("leader:orders/0")
"""


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Also of what the pytest in the other process starts, and of its temporary folders."""
    folder = tmp_path_factory.mktemp("outside") / "temporary"
    with nothing_left_behind(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        yield


def run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(PRELUDE + test)
    return pytester.runpytest_subprocess(
        "-p", "no:randomly", "--strict-markers", *options, timeout=PATIENCE_S
    )


def test_a_test_finds_nothing_of_the_one_before(pytester: pytest.Pytester) -> None:
    result = run(pytester, CLEAN_AGAIN)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["logquake: 1 clusters started, 2 resets, the median * s*"])


COME_AND_GO = """
pytestmark = pytest.mark.logquake(brokers=1)
first = []


def test_a_broker_comes(logquake):
    first.append(logquake.state().supervisor_pid)
    logquake.add_broker()


def test_it_has_gone_again_and_another_is_left_behind_with_replicas(logquake):
    assert [one.name for one in logquake.state().brokers] == ["broker-1"]
    assert logquake.state().supervisor_pid == first[0], "not the same cluster"
    logquake.add_broker()
    logquake.create_topic("orders", partitions=1, replication_factor=2)


def test_there_is_a_cluster_as_new(logquake):
    assert [one.name for one in logquake.state().brokers] == ["broker-1"]
    assert logquake.state().supervisor_pid != first[0]
"""


def test_who_is_in_a_cluster_is_as_before_or_the_cluster_is_another(
    pytester: pytest.Pytester,
) -> None:
    run(pytester, COME_AND_GO).assert_outcomes(passed=3)


FAILOVER = """
def test_failover(logquake, topic, bootstrap_servers):
    assert bootstrap_servers == logquake.bootstrap_servers
    send(logquake, topic)
    with logquake.kill(logquake.leader(topic, 0)) as fault:
        logquake.wait_leader_change(topic, 0, since=fault)
    logquake.wait_isr(topic, 0, size=3)
    logquake.pause("random")
    assert logquake.wait_offset(topic, 0, 11, timeout=1)
"""


def test_a_failed_test_is_told_with_what_happened_to_the_cluster(pytester: pytest.Pytester) -> None:
    result = run(pytester, FAILOVER, "--logquake-seed=42")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- logquake -*",
            "what was done to the cluster:",
            "*  create_topic test_failover",
            "*  kill * (broker-*)",
            "*  healed: kill * (broker-*)",
            "*  pause random (broker-*)",
            "leaders and ISRs:",
            "*broker-*paused*",
            "test_failover-0 *",
            "last events of broker 1:",
            "*test_failover-0*",
            "3 brokers, preset fast_failover, seed 42",
            "run it again: pytest *test_failover --logquake-seed=42*",
            "kept: *logquake-reports*test_failover",
        ]
    )
    (folder,) = (pytester.path / "logquake-reports").iterdir()
    assert "pause random" in (folder / "report.txt").read_text()
    assert (folder / "events" / "broker-3.jsonl").stat().st_size
    assert (folder / "logs" / "broker-1.log").exists()

    again = run(pytester, FAILOVER, "--logquake-seed=42")
    assert _paused(again) == _paused(result)


def _paused(result: pytest.RunResult) -> str:
    (line,) = [line for line in result.outlines if "  pause random (" in line]
    return line.split()[-1]


FAIL_TWICE = """
@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.logquake(brokers=1)
def test_fails(logquake, topic, turn):
    send(logquake, topic)
    raise ValueError(f"root {logquake.layout.root}")
"""


def test_the_cluster_of_the_first_failed_test_is_kept_when_asked(
    pytester: pytest.Pytester,
) -> None:
    result = run(pytester, FAIL_TWICE, "--logquake-keep")
    result.assert_outcomes(failed=2)
    first, second = [
        Path(line.split()[-1])
        for line in result.outlines
        if line.startswith("E ") and "root" in line
    ]
    assert not second.exists()
    assert any(f"logquake status --data-dir {first}" in line for line in result.outlines)
    cluster = RunningCluster(Layout(first))
    assert cluster.view.topics() >= {"test_fails-1"}
    cluster.close()
    cluster.shut_down(remove=True)


WORKERS = """
@pytest.fixture(scope="module")
def application(logquake_session):
    return logquake_session.create_topic("lives-with-the-module")


@pytest.mark.parametrize("turn", range(4))
def test_shares(application, logquake, logquake_session, topic, turn, worker_id, request):
    assert logquake is logquake_session
    assert {application, topic} <= logquake.view.topics()
    assert len([one for one in logquake.view.topics() if not one.startswith("__")]) == 2
    send(logquake, topic)
    (request.config.rootpath / f"seen-{worker_id}").write_text(logquake.bootstrap_servers)


@pytest.mark.logquake(fresh=True)
def test_has_its_own(logquake, logquake_session, logquake_factory):
    other = logquake_factory(brokers=2)
    assert len({one.bootstrap_servers for one in (logquake, logquake_session, other)}) == 3
    assert len(other.state().brokers) == 2
"""


def test_each_worker_has_a_cluster_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def logquake_options():
            return {"brokers": 1}
        """
    )
    result = run(pytester, WORKERS, "-n", "2", "--dist", "each")
    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines(["logquake: 6 clusters started, *"])
    seen = {path.read_text() for path in pytester.path.glob("seen-gw*")}
    assert len(seen) == 2


TOLD = """
import os
from pathlib import Path

FRESH = {
    "replica.lag.time.max.ms": 60_000,
    "zookeeper.session.timeout.ms": 6_000,
    "auto.create.topics.enable": False,
}


def send_to_leader_alone(kafka, topic, **more):
    producer = Producer({**kafka.client_config(), "acks": 1, "client.id": "an-app"})
    for number in range(5):
        producer.produce(topic, f"lost {number}", **more)
        assert producer.flush(60) == 0  # the first answers a Fetch that was asked before


def lose(kafka, topic, **more):
    leader = kafka.leader(topic, 0)
    with kafka.pause(3 - leader):
        send_to_leader_alone(kafka, topic, **more)
        dead = kafka.kill(leader)
    kafka.wait_leader_change(topic, 0, since=dead)
    dead.heal()
    kafka.wait_isr(topic, 0, size=2)


@pytest.mark.logquake(brokers=2, links=True, config=FRESH)
@pytest.mark.logquake_topic(replication_factor=2)
def test_links_know_what_was_acked(logquake, topic):
    send(logquake, topic)
    logquake.history.assert_no_acked_loss(topic)
    logquake.history.assert_within("duplicates=0")
    lose(logquake, topic)
    with pytest.raises(AssertionError, match="acked are lost") as lost:
        logquake.history.assert_no_acked_loss()
    assert "which an-app was acked at" in str(lost.value)
    assert "log-truncated" in str(lost.value)
    (fault, kill) = logquake.history.card().faults
    assert (fault.kind, kill.kind) == ("pause", "kill")
    assert "an-app" in fault.clients
    with pytest.raises(AssertionError, match="requests_per_s"):
        logquake.history.assert_within("requests_per_s=0")
    assert False, "to be reported"


@pytest.mark.logquake(brokers=2, config=FRESH)
@pytest.mark.logquake_topic(replication_factor=2)
def test_clients_tell(logquake, topic):
    from logquake.client.errors import BrokerError
    from logquake.cluster.errors import ClusterError

    with pytest.raises(ClusterError, match="no ack is known"):
        logquake.history.assert_no_acked_loss()
    producer = Producer(logquake.client_config())
    producer.produce(topic, "kept", on_delivery=logquake.history.on_delivery)
    assert producer.flush(60) == 0
    logquake.history.assert_no_acked_loss(topic)
    lose(logquake, topic, on_delivery=logquake.history.on_delivery)
    with pytest.raises(AssertionError, match="of 6 acked are lost"):
        logquake.history.assert_no_acked_loss(topic)
    with logquake.admin(60) as admin:
        admin.delete_topics([topic])[topic].result()
    logquake.wait_no_topics([topic])
    with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        logquake.history.assert_no_acked_loss(topic)
"""


def test_what_was_acked_is_held_against_what_is_there(pytester: pytest.Pytester) -> None:
    result = run(pytester, TOLD)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "verdict:",
            "* acked, LOST: *",
            "*an-app was acked at*",
            "what clients did:",
            "fault *client *",
        ]
    )
    assert list(pytester.path.glob("logquake-reports/*/clients.jsonl"))


COROUTINES = """
@pytest.mark.anyio
async def test_by_anyio(logquake_async, topic):
    await fail_over(logquake_async, topic)


@pytest.mark.asyncio
async def test_by_pytest_asyncio(logquake_async, topic):
    await fail_over(logquake_async, topic)


async def fail_over(kafka, topic):
    ticks = asyncio.ensure_future(tick())
    async with kafka.kill(kafka.leader(topic, 0)) as fault:
        await kafka.wait_leader_change(topic, 0, since=fault)
    await kafka.wait_isr(topic, 0, size=2)
    ticks.cancel()
    assert len(ticked) > 1, "the loop stood still"


async def tick():
    while True:
        ticked.append(1)
        await asyncio.sleep(0.001)


ticked = []


@pytest.fixture
def anyio_backend():
    return "asyncio"


pytestmark = pytest.mark.logquake(brokers=2)
import asyncio
"""


def test_a_test_that_is_a_coroutine_keeps_its_loop(pytester: pytest.Pytester) -> None:
    pytest.importorskip("anyio")
    pytest.importorskip("pytest_asyncio")
    run(pytester, COROUTINES).assert_outcomes(passed=2)


def test_projects_that_do_not_use_it_notice_nothing(pytester: pytest.Pytester) -> None:
    test = """
def test_nothing_is_loaded():
    import sys
    heavy = ("logquake.cluster", "logquake.wire", "logquake.client", "kazoo", "multiprocess")
    assert not [name for name in sys.modules if name.startswith(heavy)]
"""
    pytester.makepyfile(test)
    pytester.runpytest_subprocess(
        "-W", "error", "-p", "no:asyncio", timeout=PATIENCE_S
    ).assert_outcomes(passed=1)
    markers = pytester.runpytest_subprocess("--markers", timeout=PATIENCE_S)
    markers.stdout.fnmatch_lines(["@pytest.mark.logquake(*", "@pytest.mark.logquake_topic(*"])
    without = pytester.runpytest_subprocess("--markers", "-p", "no:logquake", timeout=PATIENCE_S)
    without.stdout.no_fnmatch_line("*logquake*")
