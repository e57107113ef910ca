"""A cluster as ZooKeeper knows it: controller, live brokers, leaders and ISRs.

It is read by a session of its own, so it shows what was decided, not yet what every broker has
heard of. Waiting goes by watches: nothing polls.

A znode that makes no sense is left out, as if it was not there: the others are shown all the same,
and the controller's journal tells of it (`znode-set-aside`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

from logquake.cluster.errors import ClusterError
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.kazoo_session import KazooSession
from logquake.zk.operations import (
    Delete,
    Exists,
    Failed,
    GetChildren,
    GetData,
    Operation,
    WatchEvent,
    ZkError,
)
from logquake.zk.retry import RetryingSession
from logquake.zk.znodes.brokers import IDS_PATH, BrokerRegistration, broker_id_of
from logquake.zk.znodes.configs import ENTITY_TYPES, EntityConfig
from logquake.zk.znodes.control import ControllerNode
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TOPICS_PATH, PartitionState, TopicAssignment

F = TypeVar("F")
T = TypeVar("T")

SESSION_TIMEOUT_MS = 6_000
CONNECT_TIMEOUT_MS = 1_000
ANSWER_TIMEOUT_S = 10.0

# Reads under way. For each of them kazoo writes a byte to its own thread, through a socket that is
# full after 278; whoever is in submit() then waits for that thread, and it for the lock.
MAX_IN_FLIGHT = 100


class ClusterView:
    """Callable from any thread. Every read raises ClusterError when ZooKeeper does not answer."""

    def __init__(self, zookeeper: str) -> None:
        self._address = zookeeper
        self._lock = threading.RLock()
        self._change = threading.Condition(self._lock)
        self._room = threading.BoundedSemaphore(MAX_IN_FLIGHT)
        self._changes = 0
        self._session = RetryingSession(
            lambda listener: KazooSession(
                zookeeper, SESSION_TIMEOUT_MS, CONNECT_TIMEOUT_MS, listener, self._serially
            ),
            self,
        )

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> ClusterView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What is known

    def controller(self) -> int | None:
        """The id of the controller, None while there is none."""
        node = _sense_of(self._read(ControllerNode.path()), ControllerNode.decode)
        return None if node is None else node.broker_id

    def live_brokers(self) -> frozenset[int]:
        found = (_sense_of(name, broker_id_of) for name in self._children(IDS_PATH))
        return frozenset(broker_id for broker_id in found if broker_id is not None)

    def session_of(self, broker_id: int) -> int | None:
        """In which it is registered; None while it is not."""
        (stat,) = self._ask([Exists(BrokerRegistration.path(broker_id), watch=True)])
        return None if stat is None else stat.ephemeral_owner

    def partition(self, topic: str, partition: int) -> PartitionState | None:
        """None while the partition does not exist, or has no leader yet."""
        data = self._read(PartitionState.path(topic, partition))
        return _sense_of(data, PartitionState.decode)

    def assignments(self) -> dict[str, TopicAssignment]:
        """Every topic's replicas. No change of it is told: there may be thousands."""
        topics = self._children(TOPICS_PATH)
        found = self._look([TopicAssignment.path(topic) for topic in topics])
        return {
            topic: assignment
            for topic, data in zip(topics, found, strict=True)
            if (assignment := _sense_of(data, TopicAssignment.decode)) is not None
        }

    def all_partitions(self) -> Mapping[TopicPartition, PartitionState]:
        """Every partition that has a state. No change is told here either."""
        wanted = [
            TopicPartition(topic, partition)
            for topic, assignment in self.assignments().items()
            for partition in assignment.partitions
        ]
        found = self._look([PartitionState.path(*one) for one in wanted])
        return {
            one: state
            for one, data in zip(wanted, found, strict=True)
            if (state := _sense_of(data, PartitionState.decode)) is not None
        }

    def topics(self) -> frozenset[str]:
        """Those that there are, also while they are being deleted."""
        return frozenset(self._children(TOPICS_PATH))

    def configs(self) -> dict[str, Mapping[str, str]]:
        """What was changed at run time, by entity: ``brokers/1``, ``topics/orders``.

        Of users, clients and addresses too, and no change of it is told.
        """
        entities = [one for kind in ENTITY_TYPES for one in self._entities(kind)]
        found = self._look([EntityConfig.path(entity) for entity in entities])
        decoded = (_sense_of(data, EntityConfig.decode) for data in found)
        return {
            entity: one.config
            for entity, one in zip(entities, decoded, strict=True)
            if one is not None and one.config
        }

    # The one write

    def delete_controller(self) -> int | None:
        """Who held the office, which is free now; None where nobody did."""
        controller = self.controller()
        (answer,) = self._ask([Delete(ControllerNode.path())])
        return None if _is_absent(answer) else controller

    # Waiting

    def wait_for(self, read: Callable[[], T | None], timeout_s: float) -> T | None:
        """Ask ``read`` now and after every change of what it read; its first answer in time."""
        deadline = time.monotonic() + timeout_s
        while True:
            seen = self._changes
            found = read()
            if found is not None:
                return found
            if not self._wait_for_change(seen, deadline - time.monotonic()):
                return None

    def _wait_for_change(self, seen: int, timeout_s: float) -> bool:
        with self._change:
            return self._change.wait_for(lambda: self._changes != seen, timeout_s)

    def on_connected(self, session_id: int) -> None:  # noqa: ARG002 - a SessionListener's name
        self._note_change()

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None:
        """Watches are gone with the session; on_connected follows."""

    def on_watch(self, event: WatchEvent) -> None:  # noqa: ARG002 - any change: all is read again
        self._note_change()

    def _note_change(self) -> None:
        with self._change:
            self._changes += 1
            self._change.notify_all()

    # Reading

    def _read(self, path: str) -> bytes | None:
        """The data, None where there is no node; it is watched from now on.

        Exists leaves a watch even where nothing is, which GetData does not.
        """
        _, answer = self._ask([Exists(path, watch=True), GetData(path)])
        return _data_of(answer)

    def _look(self, paths: Sequence[str]) -> list[bytes | None]:
        """The data of each path, None where there is no node; nothing is watched."""
        return [_data_of(answer) for answer in self._ask([GetData(path) for path in paths])]

    def _children(self, path: str) -> tuple[str, ...]:
        _, answer = self._ask([Exists(path, watch=True), GetChildren(path, watch=True)])
        return () if _is_absent(answer) else answer.names

    def _entities(self, kind: str) -> list[str]:
        """``users/alice``, and below it ``users/alice/clients/c1``."""
        found = []
        for name in self._names(kind):
            found.append(f"{kind}/{name}")
            if kind == "users":
                clients = f"{kind}/{name}/clients"
                found += [f"{clients}/{client}" for client in self._names(clients)]
        return found

    def _names(self, entities: str) -> tuple[str, ...]:
        (answer,) = self._ask([GetChildren(EntityConfig.path(entities), watch=False)])
        return () if _is_absent(answer) else answer.names

    def _ask(self, operations: Sequence[Operation[Any]]) -> list[Any]:
        try:
            futures = [self._submit(operation) for operation in operations]
            answers = [future.result(ANSWER_TIMEOUT_S) for future in futures]
        except FutureTimeoutError:
            raise ClusterError(f"ZooKeeper at {self._address} does not answer") from None
        for answer in answers:
            if isinstance(answer, Failed) and not _is_absent(answer):
                raise ClusterError(f"ZooKeeper at {self._address} refuses: {answer}")
        return answers

    def _submit(self, operation: Operation[Any]) -> Future[Any]:
        """Raises FutureTimeoutError when too many are not answered."""
        if not self._room.acquire(timeout=ANSWER_TIMEOUT_S):
            raise FutureTimeoutError
        future: Future[Any] = Future()
        future.add_done_callback(lambda _done: self._room.release())
        with self._lock:
            self._session.submit(operation, future.set_result)
        return future

    def _serially(self, action: Callable[[], None]) -> None:
        """Callbacks come on kazoo's thread: run each while no caller is inside the session."""
        with self._lock:
            action()


def _sense_of(found: F | None, decode: Callable[[F], T]) -> T | None:
    """None for what is not there or makes no sense."""
    try:
        return None if found is None else decode(found)
    except MalformedZnode:
        return None


def _data_of(answer: Any) -> bytes | None:
    return None if _is_absent(answer) else answer.data


def _is_absent(answer: Any) -> bool:
    return isinstance(answer, Failed) and answer.error is ZkError.NO_NODE
