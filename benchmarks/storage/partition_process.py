"""The process that holds the partitions which ``partitions`` measures: prints its figures as JSON.

python -m benchmarks.storage.partition_process KIND FOLDER PARTITIONS
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.storage.sides import cpu_seconds
from benchmarks.target import pss_bytes
from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.node.net.links.channel import TcpNetwork
from logquake.node.net.links.link import LinkSettings
from logquake.node.net.loop import EventLoop
from logquake.node.process.descriptors import open_segments, raise_limit
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.segments.open_files import DEFAULT_LIMIT, OpenFiles
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from tests.doubles.journal import NoJournal

OPENED, LED, LIMIT = "opened", "led", "limit"
TOPIC, TOPIC_ID = "orders", b"orders".ljust(16, b"-")

_BROKER_ID = 1
_CONFIG = TopicConfig()  # one for all, as a topic's partitions share it


def options() -> LogDirOptions:
    """As a broker's, its bound on open segments included."""
    return LogDirOptions(
        _BROKER_ID,
        "benchmark-of-storage00",
        0,
        lambda _topic: _CONFIG.log,
        open_files=OpenFiles(open_segments(DEFAULT_LIMIT, raise_limit())),
    )


def _open(path: str, partitions: int) -> object:
    log_dir = open_log_dir(RealDisk(), path, options())
    if not log_dir.was_clean or log_dir.log_count != partitions:
        raise BenchmarkError(f"{log_dir.log_count} logs, clean: {log_dir.was_clean}")
    return log_dir


def _lead(path: str, partitions: int) -> object:
    loop = EventLoop()
    replicas = ReplicaManager(
        _BROKER_ID,
        ReplicationSettings(),
        log_dirs=LogDirs([open_log_dir(RealDisk(), path, options())]),
        scheduler=loop,
        workers=loop,
        network=TcpNetwork(loop, LinkSettings()),
        journal=NoJournal(),
        random=Random(1),
        metadata=MetadataCache(PLAINTEXT),
        transaction_log=CoordinatorTopic(TRANSACTION_STATE_TOPIC, 1),
        broker_epoch=lambda: 1,
        controller=ControllerRequests(lambda: None, loop),
    )
    answers: list[LeaderAndIsrResponse] = []
    replicas.state_changes.apply_leader_and_isr(
        _leadership(partitions), lambda _topic: _CONFIG, answers.append
    )
    while not answers:
        loop.run_pass()
    (answer,) = answers
    errors = {one.error_code for topic in answer.topics for one in topic.partition_errors}
    if errors != {0}:
        raise BenchmarkError(f"LeaderAndIsr is answered with {errors}")
    return replicas, loop


def _leadership(partitions: int) -> LeaderAndIsrRequest:
    states = [
        LeaderAndIsrPartitionState(
            partition_index=number,
            controller_epoch=1,
            leader=_BROKER_ID,
            leader_epoch=0,  # that of the batch: a new one would be synced, 10,000 times
            isr=[_BROKER_ID],
            partition_epoch=1,
            replicas=[_BROKER_ID],
        )
        for number in range(partitions)
    ]
    topic = LeaderAndIsrTopicState(topic_name=TOPIC, topic_id=TOPIC_ID, partition_states=states)
    return LeaderAndIsrRequest(controller_epoch=1, topic_states=[topic])


def _limit(path: str, partitions: int) -> object:
    for folder in Path(path).glob(f"{TOPIC}-*"):
        for name in os.listdir(folder):
            with open(folder / name, "rb", buffering=0) as file:
                file.read()
    return {(TOPIC, number): SimpleNamespace(start=0, end=1) for number in range(partitions)}


_KINDS: dict[str, Callable[[str, int], object]] = {OPENED: _open, LED: _lead, LIMIT: _limit}


def _measure(kind: str, path: str, partitions: int) -> Figures:
    held: list[object] = []
    gc.collect()
    descriptors, memory = _descriptors(), _memory()
    seconds = cpu_seconds(lambda: held.append(_KINDS[kind](path, partitions)))
    gc.collect()
    return {
        "bytes/partition": (_memory() - memory) / partitions,
        "us/partition": seconds / partitions * 1e6,
        "descriptors": _descriptors() - descriptors,
    }


def _memory() -> int:
    return pss_bytes((os.getpid(),))


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


if __name__ == "__main__":
    figures = _measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(json.dumps(dict(figures)))
