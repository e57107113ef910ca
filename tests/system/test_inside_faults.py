"""What is broken inside a broker is seen from outside, and is over when it is healed."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.fault import Fault
from logquake.cluster.state import Phase
from tests.log_contents import records_in, send_batch
from tests.system.conftest import CommandLine
from tests.waiting import wait_for

BROKERS = 3
LAG_MS = 2_000
CONFIG = {"replica.lag.time.max.ms": LAG_MS, "log.index.size.max.bytes": 65_536}
OWNER = """
import sys
from pathlib import Path
from logquake.cluster.layout import Layout
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.fault import Fault
RunningCluster(Layout(Path(sys.argv[1]))).slow_disk(1, ms=1)
print("ordered", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    data_dir = tmp_path_factory.mktemp("faults") / "cluster"
    with Cluster(BROKERS, CONFIG, data_dir, log_dirs=2, faults=True) as kafka:
        yield kafka


@pytest.fixture(autouse=True)
def nothing_stays_broken(cluster: Cluster) -> Iterator[None]:
    yield
    assert cluster.orders() == []


def follower_of(cluster: Cluster, topic: str) -> int:
    return next(broker for broker in cluster.isr(topic, 0) if broker != cluster.leader(topic, 0))


def log_of(cluster: Cluster, broker: int, topic: str) -> Path:
    (folder,) = cluster.layout.data_of(broker).parent.glob(f"data*/{topic}-0")
    return folder / f"{0:020d}.log"


def lead_by(cluster: Cluster, topic: str, broker: int) -> None:
    """Kill whoever leads until this one does, and start them again."""
    while cluster.leader(topic, 0) != broker:
        with cluster.kill(cluster.leader(topic, 0)) as fault:
            cluster.wait_leader_change(topic, 0, since=fault)
        cluster.wait_isr(topic, 0, BROKERS)


@pytest.mark.parametrize("fault", ["disk_full", "read_only_disk", "lose_log_dir"])
def test_a_disk_that_fails_takes_its_directory_offline_and_the_broker_lives_on(
    cluster: Cluster, fault: str
) -> None:
    cluster.create_topic(fault, partitions=4, replication_factor=BROKERS)
    for partition in range(4):  # every replica has its files by then
        send_batch(cluster, fault, b"goes to all", partition=partition)
    leader = cluster.leader(fault, 0)
    data = log_of(cluster, leader, fault).parent.parent
    failing = cluster.layout.data_dirs(leader, 2).index(data) + 1
    others = [n for n in range(4) if not (data / f"{fault}-{n}").exists()]
    with getattr(cluster, fault)(leader, log_dir=failing) as begun:
        send_batch(cluster, fault, b"goes to the next leader")
        assert cluster.wait_leader_change(fault, 0, since=begun) != leader
        assert cluster.wait_isr(fault, 0, BROKERS - 1)
        for partition in others:
            cluster.wait_isr(fault, partition, BROKERS)
        assert phase_of(cluster, leader) is Phase.RUNNING
    cluster.restart(leader)
    cluster.wait_isr(fault, 0, BROKERS)
    values = [record.value for record in records_in(cluster, fault)]
    assert values == [b"goes to all", b"goes to the next leader"]


def test_a_slow_disk_shrinks_the_isr_until_it_is_quick_again(cluster: Cluster) -> None:
    cluster.create_topic("slow", partitions=1, replication_factor=BROKERS)
    follower = follower_of(cluster, "slow")
    with cluster.slow_disk(follower, ms=2 * LAG_MS, calls=("write",), path="slow-0/*.log"):
        send_batch(cluster, "slow", b"kept")
        assert follower not in cluster.wait_isr("slow", 0, BROKERS - 1)
    assert follower in cluster.wait_isr("slow", 0, BROKERS)
    assert [record.value for record in records_in(cluster, "slow")] == [b"kept"]


def test_a_flipped_bit_is_found_at_an_unclean_start_and_never_served(cluster: Cluster) -> None:
    cluster.create_topic("flipped", partitions=1, replication_factor=BROKERS)
    for number in range(5):
        send_batch(cluster, "flipped", b"%d" % number)
    cluster.wait_isr("flipped", 0, BROKERS)
    follower = follower_of(cluster, "flipped")
    intact = log_of(cluster, cluster.leader("flipped", 0), "flipped").read_bytes()
    with cluster.kill(follower):
        cluster.flip_bit(follower, "flipped", 0, offset=3)
        assert log_of(cluster, follower, "flipped").read_bytes() != intact
        cluster.wait_isr("flipped", 0, BROKERS - 1)  # what comes back is not taken for it
    cluster.wait_isr("flipped", 0, BROKERS)
    assert log_of(cluster, follower, "flipped").read_bytes() == intact
    lead_by(cluster, "flipped", follower)
    assert [record.value for record in records_in(cluster, "flipped")] == [
        b"%d" % n for n in range(5)
    ]


def test_a_flipped_bit_that_nobody_looked_for_is_refused_by_its_readers(cluster: Cluster) -> None:
    cluster.create_topic("rotten", partitions=1, replication_factor=BROKERS)
    send_batch(cluster, "rotten", b"a")
    send_batch(cluster, "rotten", b"b")
    cluster.flip_bit("leader:rotten/0", "rotten", 0, offset=1)
    with pytest.raises(ClientError, match="CORRUPT_MESSAGE"):
        records_in(cluster, "rotten")


LOST_FILES: dict[str, Callable[[Cluster, int], Fault]] = {
    "cut": lambda cluster, broker: cluster.cut_file(broker, "files-*/*.log"),
    "lost segment": lambda cluster, broker: cluster.lose_segment(broker, "files", 0, 1),
    "lost indexes": lambda cluster, broker: cluster.lose_files(broker, "files-*/*index"),
    "lost epochs": lambda cluster, broker: cluster.lose_files(broker, "files-*/leader-epoch-*"),
    "lost checkpoints": lambda cluster, broker: cluster.lose_files(broker, "data*/*-checkpoint"),
}


@pytest.mark.parametrize("ended", ["kill", "stop"])
@pytest.mark.parametrize("loss", LOST_FILES)
def test_a_follower_that_lost_files_has_all_again_before_it_leads(
    cluster: Cluster, loss: str, ended: str
) -> None:
    if "files" not in cluster.view.topics():
        cluster.create_topic("files", partitions=1, replication_factor=BROKERS)
        for number in range(5):
            send_batch(cluster, "files", b"%d" % number)
    cluster.wait_isr("files", 0, BROKERS)
    follower = follower_of(cluster, "files")
    intact = log_of(cluster, cluster.leader("files", 0), "files").read_bytes()
    with getattr(cluster, ended)(follower):
        LOST_FILES[loss](cluster, follower)
        cluster.wait_isr("files", 0, BROKERS - 1)
    cluster.wait_isr("files", 0, BROKERS)
    assert log_of(cluster, follower, "files").read_bytes() == intact


def test_a_skewed_clock_is_in_the_times_that_a_leader_appends(cluster: Cluster) -> None:
    config = {"message.timestamp.type": "LogAppendTime"}
    cluster.create_topic("late", partitions=1, replication_factor=1, config=config)
    began_s = time.monotonic()
    with cluster.clock_skew("leader:late/0", ms=-3_600_000):
        send_batch(cluster, "late", b"an hour ago")
    send_batch(cluster, "late", b"now")
    took_ms = 1_000 * (time.monotonic() - began_s)
    before, after = (record.timestamp_ms for record in records_in(cluster, "late"))
    assert 3_600_000 <= after - before <= 3_600_000 + took_ms + 1


def test_a_broker_dies_at_the_call_that_was_named_and_is_started_again(cluster: Cluster) -> None:
    cluster.create_topic("torn", partitions=1, replication_factor=BROKERS)
    send_batch(cluster, "torn", b"whole")
    leader = cluster.leader("torn", 0)
    with cluster.torn_write(leader, path="torn-0/*.log") as fault:
        send_batch(cluster, "torn", b"torn at first")
        cluster.wait_leader_change("torn", 0, since=fault)
        wait_for("word of its end", lambda: phase_of(cluster, leader), Phase.ENDED.__eq__)
        wait_for("end of the order with the process", cluster.orders, [].__eq__)
    cluster.wait_isr("torn", 0, BROKERS)
    lead_by(cluster, "torn", leader)
    assert [one.value for one in records_in(cluster, "torn")] == [b"whole", b"torn at first"]


def test_orders_end_with_who_gave_them_however_that_ends(cluster: Cluster) -> None:
    command = [sys.executable, "-c", OWNER, str(cluster.layout.root)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ordered\n"
        assert [one["order"]["kind"] for one in cluster.orders()] == ["slow-calls"]
        owner.send_signal(signal.SIGKILL)
    wait_for("end of the orders", cluster.orders, [].__eq__)


def test_orders_outlive_the_broker_that_they_concern(cluster: Cluster) -> None:
    config = {"message.timestamp.type": "LogAppendTime"}
    cluster.create_topic("early", partitions=1, replication_factor=1, config=config)
    leader = cluster.leader("early", 0)
    with cluster.clock_skew(leader, ms=3_600_000), cluster.slow_start(leader, ms=500):
        cluster.restart(leader)
        cluster.wait_leader("early", 0)
        send_batch(cluster, "early", b"tomorrow")
    (record,) = records_in(cluster, "early")
    assert record.timestamp_ms > time.time() * 1000 + 3_000_000


def test_a_starved_broker_goes_on_when_it_is_healed(cluster: Cluster) -> None:
    pid = pid_of(cluster, 2)
    with cluster.starve(2, share=0.8):
        wait_for("stop", lambda: state_of(pid), "T".__eq__)
        assert phase_of(cluster, 2) is Phase.RUNNING
    wait_for("end of it", lambda: state_of(pid), "T".__ne__)


def test_a_limit_of_open_files_is_in_force_until_it_is_healed(cluster: Cluster) -> None:
    pid = pid_of(cluster, 2)
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    with cluster.file_limit(2, 200):
        assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (200, before[1])
    assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == before


def test_the_command_line_breaks_lists_and_heals(cluster: Cluster, logquake: CommandLine) -> None:
    where = ("--data-dir", str(cluster.layout.root))
    said = logquake.ok("fault", "disk", "slow", "1", "2.5", "--path", "*.index", *where)
    assert said == "broker-1: its disk is slow\n"
    logquake.ok("fault", "clock", "skew", "2", "--ms", "100", "--for", "300s", *where)
    listed = json.loads(logquake.ok("fault", "list", "-o", "json", *where))
    assert [one["member"] for one in listed] == ["broker-1", "broker-2"]
    assert "delay_ms=2.5" in logquake.ok("fault", "list", *where)
    first, _ = (one["id"] for one in listed)
    assert logquake.ok("fault", "heal", first, *where) == f"healed {first}\n"
    assert logquake.ok("fault", "heal", *where) == "healed 1\n"
    assert "no call 'flush'" in logquake.refused(
        "fault", "disk", "error", "1", "--call", "flush", *where
    )


@pytest.mark.parametrize(
    ("order", "for_s"), [(None, None), ({"kind": "slow-start", "delay_ms": 1}, "soon")]
)
def test_nonsense_is_refused(cluster: Cluster, order: object, for_s: object) -> None:
    with pytest.raises(ClusterError, match=r"an order is an object|no time in seconds"):
        cluster.ask("order", member="broker-1", order=order, for_s=for_s)


def test_a_fault_ends_after_its_time(cluster: Cluster) -> None:
    cluster.slow_disk(1, ms=1, for_s=0.1)
    wait_for("end of the order", cluster.orders, [].__eq__)


def phase_of(cluster: RunningCluster, broker: int) -> Phase:
    return next(one.phase for one in cluster.state().brokers if one.name == f"broker-{broker}")


def pid_of(cluster: RunningCluster, broker: int) -> int:
    member = cluster.state().member(f"broker-{broker}")
    assert member is not None
    assert member.pid is not None
    return member.pid


def state_of(pid: int) -> str:
    """As ps shows it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
