"""Client quotas described and altered in ZooKeeper (kafka.server.ZkAdminManager).

By any broker. All brokers, this one too, hear of an alteration by its notice below /config/changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from logquake.node.configs.entities import change_entity
from logquake.node.quotas.addresses import AddressOf, is_address
from logquake.node.quotas.alteration import (
    IP,
    Operation,
    altered,
    check_whole,
    entity_path,
)
from logquake.node.quotas.describing import Component, Entity, described
from logquake.node.quotas.stored import read_quotas
from logquake.seams.workers import Workers
from logquake.wire.errors import ErrorCode, Refused
from logquake.zk.operations import Session
from logquake.zk.procedure import ZkFailure
from logquake.zk.procedure_queue import ProcedureQueue
from logquake.zk.znodes.configs import sanitize

Described = Sequence[tuple[Entity, Mapping[str, float]]]
Outcome = Refused | None

_FAILED = Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)


@dataclass(frozen=True, slots=True)
class Alteration:
    entity: Entity
    operations: Sequence[Operation]


class QuotaAdministration:
    """One request after the other."""

    def __init__(self, session: Session, workers: Workers, address_of: AddressOf) -> None:
        self._queue = ProcedureQueue(session)
        self._workers = workers
        self._address_of = address_of

    def describe(
        self,
        components: Sequence[Component],
        done: Callable[[Described | Refused], None],
        *,
        strict: bool,
    ) -> None:
        async def describe() -> None:
            try:
                stored = (await read_quotas()).items()
                done(list(described(stored, components, strict=strict)))
            except Refused as refused:
                done(refused)
            except ZkFailure:
                done(_FAILED)

        self._queue.put(describe)

    def alter(
        self,
        alterations: Sequence[Alteration],
        done: Callable[[Sequence[Outcome]], None],
        *,
        only_check: bool,
    ) -> None:
        """done gets an outcome each, in order."""

        def found(hosts: Future[frozenset[str]]) -> None:
            self._queue.put(partial(_alter_all, alterations, hosts.result(), only_check, done))

        names = sorted({each.entity[IP] or "" for each in alterations if IP in each.entity})
        self._find_hosts([sanitize(name) for name in names], found)

    def _find_hosts(
        self, names: Sequence[str], found: Callable[[Future[frozenset[str]]], None]
    ) -> None:
        """Which of them have an address. A name server may be slow, or silent."""
        if all(is_address(name) for name in names if name):  # one without a name is refused first
            known: Future[frozenset[str]] = Future()
            known.set_result(frozenset(names))
            found(known)
        else:
            self._workers.run_in_worker(lambda: frozenset(filter(self._address_of, names)), found)


async def _alter_all(
    alterations: Iterable[Alteration],
    hosts: frozenset[str],
    only_check: bool,
    done: Callable[[Sequence[Outcome]], None],
) -> None:
    outcomes: list[Outcome] = []
    for each in alterations:
        try:
            path = entity_path(each.entity, hosts.__contains__)
            await change_entity(path, partial(_after, path, each.operations, only_check))
        except Refused as refused:
            outcomes.append(refused)
        except ZkFailure:
            outcomes.append(_FAILED)
        else:
            outcomes.append(None)
    done(outcomes)


def _after(
    path: str, operations: Sequence[Operation], only_check: bool, before: Mapping[str, str]
) -> Mapping[str, str] | None:
    """Raises Refused."""
    after = altered(path, before, operations)
    if only_check:
        return None
    check_whole(path, after)
    return after
