"""Rows of histories and of watched links to what each client did, and when.

What a client's own history tells of an operation is taken before what the links saw of it: an
application waits for its client library, which hides most of what happens on the wire.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from logquake.chaos.card.places import Places
from logquake.chaos.history.rows import Kind, Row
from logquake.cluster.observing.onlookers import ONLOOKER

UNNAMED = "without a client id"


class Operation(StrEnum):
    PRODUCE = "produce"
    FETCH = "fetch"
    COMMIT = "commit"
    TRANSACTION = "transaction"


_OPERATIONS: Mapping[str, Operation] = {
    "Produce": Operation.PRODUCE,
    "Fetch": Operation.FETCH,
    "OffsetCommit": Operation.COMMIT,
    "TxnOffsetCommit": Operation.COMMIT,
    "EndTxn": Operation.TRANSACTION,
}
# How clients find out about versions and their own names: nothing failed.
_NO_FAILURES = frozenset({"MEMBER_ID_REQUIRED", "UNSUPPORTED_VERSION"})
# Who only reads back what others did.
_OF_THE_HARNESS = ("final-reader", "harness")


def _times() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Attempts:
    """Of one operation: when it was asked for, succeeded, and did not, in microseconds."""

    asked_us: array[int] = field(default_factory=_times)
    ok_us: array[int] = field(default_factory=_times)
    failed_us: array[int] = field(default_factory=_times)

    def __iter__(self) -> Iterator[array[int]]:
        return iter((self.asked_us, self.ok_us, self.failed_us))

    def sort(self) -> None:
        self.asked_us = array("q", sorted(self.asked_us))


class Failure(NamedTuple):
    at_us: int
    error: str
    times: int


@dataclass(slots=True)
class Client:
    """``asked_us`` by API; the others are moments of what they are named after."""

    told: dict[Operation, Attempts] = field(default_factory=lambda: defaultdict(Attempts))
    seen: dict[Operation, Attempts] = field(default_factory=lambda: defaultdict(Attempts))
    asked_us: dict[str, array[int]] = field(default_factory=lambda: defaultdict(_times))
    failures: list[Failure] = field(default_factory=list)
    retries_us: array[int] = field(default_factory=_times)
    rebalances_us: array[int] = field(default_factory=_times)
    duplicates_us: array[int] = field(default_factory=_times)
    reordered_us: array[int] = field(default_factory=_times)

    @property
    def attempts(self) -> Mapping[Operation, Attempts]:
        return {**self.seen, **self.told}

    @property
    def is_known(self) -> bool:
        return bool(self.told or self.seen or self.asked_us)


class Clients:
    """take() rows by time. A send that is acked takes some 30 bytes."""

    def __init__(self) -> None:
        self._places = Places()
        self.by_name: dict[str, Client] = defaultdict(Client)
        self._generations: set[tuple[str, str, int]] = set()
        self._batches: set[tuple[str, str, int]] = set()
        self._reactions: Mapping[str, Callable[[Row, Client], None]] = {
            Kind.SEND: self._sends,
            Kind.ACKED: lambda row, client: client.told[Operation.PRODUCE].ok_us.append(row.at_us),
            Kind.REFUSED: self._not_sent,
            Kind.UNKNOWN: self._not_sent,
            Kind.POLLED: lambda row, client: client.told[Operation.FETCH].ok_us.append(row.at_us),
            Kind.COMMIT_ANSWERED: self._committed,
            Kind.TRANSACTION_ENDED: self._transaction_ended,
            Kind.ASSIGNED: self._assigned,
            Kind.EXCHANGED: self._exchanged,
            Kind.STORED_TWICE: self._stored_twice,
            Kind.STORED_LATE: self._stored_late,
        }

    def take(self, row: Row) -> None:
        react = self._reactions.get(row.what)
        if row.process.startswith(_OF_THE_HARNESS):
            self._read_back(row)
            return
        if react is None:
            return
        if row.what in _OF_OTHERS:
            name = row.key or UNNAMED
            if name != ONLOOKER and not name.startswith(_OF_THE_HARNESS):
                react(row, self.by_name[name])
        else:
            react(row, self.by_name[row.process])

    # What clients told

    def _sends(self, row: Row, client: Client) -> None:
        client.told[Operation.PRODUCE].asked_us.append(row.at_us)
        if row.value is not None:
            self._places.sent(row.value, row.process, row.at_us)

    def _read_back(self, row: Row) -> None:
        if row.what != Kind.POLLED:
            return
        for misplaced in self._places.read(row.subject, row.offset or 0, row.values or ()):
            client = self.by_name[misplaced.client]
            moments = client.duplicates_us if misplaced.is_again else client.reordered_us
            moments.append(misplaced.sent_us)

    def _not_sent(self, row: Row, client: Client) -> None:
        _failed(client, client.told[Operation.PRODUCE], row)

    def _committed(self, row: Row, client: Client) -> None:
        attempts = client.told[Operation.COMMIT]
        if row.after == "kept":
            attempts.ok_us.append(row.at_us)
        else:
            _failed(client, attempts, row)

    def _transaction_ended(self, row: Row, client: Client) -> None:
        attempts = client.told[Operation.TRANSACTION]
        if row.after == "unknown":
            _failed(client, attempts, row)
        else:
            attempts.ok_us.append(row.at_us)

    def _assigned(self, row: Row, client: Client) -> None:
        if row.group is not None and row.epoch is not None:
            self._joined(row, client, row.process, row.group, row.epoch)

    # What links saw of them

    def _exchanged(self, row: Row, client: Client) -> None:
        before, after = row.before, row.after or {}
        client.asked_us[row.subject].append(before["asked_us"])
        errors = {} if row.why is None else {row.why: 1}
        errors |= {
            name: times
            for name, times in after.get("errors", {}).items()
            if name not in _NO_FAILURES
        }
        client.failures += [Failure(row.at_us, name, times) for name, times in errors.items()]
        operation = _OPERATIONS.get(row.subject)
        if operation is not None:
            attempts = client.seen[operation]
            attempts.asked_us.append(before["asked_us"])
            is_ok = bool(after.get("offsets")) or not errors
            (attempts.ok_us if is_ok else attempts.failed_us).append(row.at_us)
        for partition, crc, _ in before.get("batches", ()):
            self._sent(row, client, (row.key or UNNAMED, partition, crc))
        if "generation" in after:
            name = row.key or UNNAMED
            self._joined(row, client, name, before.get("group", ""), after["generation"])

    def _stored_twice(self, row: Row, client: Client) -> None:
        if Operation.PRODUCE not in client.told:
            client.duplicates_us.append(row.at_us)

    def _stored_late(self, row: Row, client: Client) -> None:
        if Operation.PRODUCE not in client.told:
            client.reordered_us.append(row.at_us)

    def _sent(self, row: Row, client: Client, batch: tuple[str, str, int]) -> None:
        if batch in self._batches:
            client.retries_us.append(row.before["asked_us"])
        self._batches.add(batch)

    def _joined(self, row: Row, client: Client, name: str, group: str, generation: int) -> None:
        """The same generation once, whoever tells of it."""
        joined = (name, group, generation)
        if joined not in self._generations:
            self._generations.add(joined)
            client.rebalances_us.append(row.at_us)


_OF_OTHERS = frozenset({Kind.EXCHANGED, Kind.STORED_TWICE, Kind.STORED_LATE})


def _failed(client: Client, attempts: Attempts, row: Row) -> None:
    attempts.failed_us.append(row.at_us)
    client.failures.append(Failure(row.at_us, row.why or str(row.what), 1))
