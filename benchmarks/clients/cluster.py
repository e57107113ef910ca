"""What a client knows before it begins, and who it asks for its coordinator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Self

from confluent_kafka.admin import AdminClient

from benchmarks.clients.driver import Pause, run, until
from benchmarks.clients.line import Address, Line, check, connect
from benchmarks.topics import TIMEOUT_S
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

RETRY_S = 0.02
# A coordinators' topic is made when the first of its clients comes.
NOT_YET = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)
_FIND_COORDINATOR_VERSION = 4
_AT_ONCE = 20  # connections to a broker: more than 50 that it has not accepted wait a second


class CoordinatorKind(IntEnum):
    GROUP = 0
    TRANSACTION = 1


@dataclass(frozen=True, slots=True)
class Cluster:
    """``leaders`` of the partitions of the one topic, by index."""

    brokers: Mapping[int, Address]
    topic: str
    leaders: Sequence[int]


def look_at(bootstrap: str, topic: str) -> Cluster:
    told = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=TIMEOUT_S)
    partitions = told.topics[topic].partitions
    return Cluster(
        {each.id: Address(str(each.host), each.port) for each in told.brokers.values()},
        topic,
        [partitions[index].leader for index in range(len(partitions))],
    )


Lines = Mapping[int, Line]  # of one client, by broker


class OpenLines:
    """For so many clients a connection to each broker, for the length of a block."""

    def __init__(self, cluster: Cluster, clients: int) -> None:
        self.of: list[Lines] = []
        self._cluster = cluster
        self._clients = clients

    def __enter__(self) -> Self:
        while len(self.of) < self._clients:
            coming = [self._open() for _ in range(min(_AT_ONCE, self._clients - len(self.of)))]
            run(line.greet() for lines in coming for line in lines.values())
            self.of += coming
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for lines in self.of:
            for line in lines.values():
                line.close()

    def _open(self) -> Lines:
        brokers = self._cluster.brokers
        return {broker_id: Line(connect(there)) for broker_id, there in brokers.items()}


async def find_coordinator(lines: Lines, kind: CoordinatorKind, name: str) -> Line:
    """Raises BenchmarkError for any error but that it is not there yet."""
    asked = FindCoordinatorRequest(key_type=kind, coordinator_keys=[name])
    anyone = next(iter(lines.values()))
    while True:
        answer = await anyone.ask(asked, FindCoordinatorResponse, _FIND_COORDINATOR_VERSION)
        (found,) = answer.coordinators
        if found.error_code not in NOT_YET:
            check(found.error_code, f"coordinator of {name}")
            return lines[found.node_id]
        await until(Pause(RETRY_S))
