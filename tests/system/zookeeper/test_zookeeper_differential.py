"""Any sequence of operations of two sessions: the model answers and reports as ZooKeeper does.

Compared are outcomes with all fields of their stats, the watches fired, and the order of both.
zxids are compared as distances from the first write, so a refused write must take one too.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kazoo.client import KazooClient

from logquake.zk.operations import (
    Check,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
    Stat,
)
from tests.system.zookeeper.ensembles import Ensemble, ModelEnsemble, RealEnsemble
from tests.waiting import PATIENCE_S

ROOT = "/differential"
CLOSE = "close"  # the session ends and its client opens another
Step = tuple[int, "Operation[Any] | str"]

below = st.sampled_from([f"{ROOT}{rest}" for rest in ("/a", "/b", "/a/x", "/a/y", "/a/x/z")])
paths = st.one_of(below, below, below, st.just(ROOT))
data = st.sampled_from([None, b"", b"one", b"two"])
versions = st.sampled_from([-1, -1, 0, 1, 2])
creates = st.builds(Create, below, data, st.booleans(), st.sampled_from([False, False, True]))
writes = st.one_of(
    creates,
    creates,
    st.builds(SetData, paths, data, versions),
    st.builds(Delete, below, versions),
)
checks = st.builds(Check, paths, versions)
multis = st.lists(st.one_of(writes, checks), max_size=4).map(lambda ops: Multi(tuple(ops)))
reads = st.one_of(
    st.builds(GetData, paths, st.booleans()),
    st.builds(Exists, paths, st.booleans()),
    st.builds(GetChildren, paths, st.booleans()),
)
operations = st.one_of(writes, writes, reads, reads, multis, st.just(CLOSE))
steps = st.lists(st.tuples(st.integers(0, 1), operations), min_size=5, max_size=25)


class Run:
    """Performs the steps on one ensemble and notes everything in comparable terms."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble = ensemble
        self._clients = [ensemble.connect(), ensemble.connect()]
        self._owners: dict[int, int] = {}
        self._base = 0
        self._learn_owner(0)
        self._learn_owner(1)

    def perform(self, sequence: list[Step]) -> list[Any]:
        self._base = self._clients[0].perform(SetData(self._ensemble.root, b"")).mzxid
        return [self._step(client, operation) for client, operation in sequence]

    def _step(self, index: int, operation: Operation[Any] | str) -> Any:
        logged = [len(client.log) for client in self._clients]
        if isinstance(operation, str):
            self._clients[index].session.close()
            logged[index] = 1
            self._clients[index] = self._ensemble.connect()
            self._learn_owner(index)
        else:
            self._clients[index].submit(operation)
        self._clients[index].settle()  # first: then the others' reads come after what it did
        self._clients[1 - index].settle()
        heard = [client.log[start:] for client, start in zip(self._clients, logged, strict=True)]
        if isinstance(operation, str):  # the order of its nodes' deletion is left open
            heard = [sorted(entries, key=repr) for entries in heard]
        return self._comparable(heard)

    def _learn_owner(self, index: int) -> None:
        self._owners[self._clients[index].sessions[0]] = len(self._owners) + 1

    def _comparable(self, value: Any) -> Any:
        """Session ids become ordinals, zxids distances."""
        match value:
            case Stat():
                return (
                    value.czxid - self._base if value.czxid >= self._base else "before",
                    value.mzxid - self._base if value.mzxid >= self._base else "before",
                    value.version,
                    self._owners.get(value.ephemeral_owner, 0),
                    value.num_children,
                )
            case list() | tuple():
                return [self._comparable(one) for one in value]
            case _ if is_dataclass(value) and hasattr(value, "stat"):
                return [self._comparable(getattr(value, field.name)) for field in fields(value)]
            case _:
                return value


def on_zookeeper(port: int, sequence: list[Step]) -> list[Any]:
    """Perform the steps on the real server, which is left as it was."""
    with ExitStack() as cleanup:
        try:
            return Run(RealEnsemble(port, ROOT, cleanup)).perform(sequence)
        finally:
            cleanup.close()
            remove_tree(port)


def remove_tree(port: int) -> None:
    client = KazooClient(f"127.0.0.1:{port}")
    client.start(PATIENCE_S)
    client.delete(ROOT, recursive=True)
    client.stop()
    client.close()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(sequence=steps)
@example(
    sequence=[
        (0, Create(f"{ROOT}/a", None, ephemeral=True)),
        (0, Create(f"{ROOT}/a/x", None, sequential=True)),
    ]
)
def test_the_model_does_what_zookeeper_does(zookeeper_port: int, sequence: list[Step]) -> None:
    assert Run(ModelEnsemble(ROOT)).perform(sequence) == on_zookeeper(zookeeper_port, sequence)
