"""What producers meant with their transactions, what they were told, and what the logs say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from logquake.node.coordinators.transactions.metadata import Producer
from logquake.wire.topic_partition import TopicPartition


@dataclass(slots=True, eq=False)
class Attempt:
    """One transaction of a producer.

    ``records`` are what its program handed over, ``values`` the batches that left with them.
    ``wants`` is what its coordinator was asked for, True for a commit; ``told`` what its program
    was told to have happened. Who never asked for a commit has aborted, whatever befalls it.
    """

    transactional_id: str
    producer: Producer
    number: int
    records: set[bytes] = field(default_factory=set)
    values: dict[int, TopicPartition] = field(default_factory=dict)
    acked: set[int] = field(default_factory=set)
    written: set[bytes] = field(default_factory=set)  # of the records, as far as was acked
    wants: bool | None = None
    told: bool | None = None
    ends: dict[TopicPartition, bool] = field(default_factory=dict)  # by its markers

    def __str__(self) -> str:
        who = f"{self.transactional_id} as {self.producer.id}/{self.producer.epoch}"
        return f"transaction {self.number} of {who} (wants {self.wants}, was told {self.told})"


class Ledger:
    """``attempts`` are all transactions; ``problems`` what was found since they were last taken."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.by_value: dict[int, Attempt] = {}
        self._latest: dict[str, Producer] = {}
        self._open: dict[tuple[TopicPartition, int], list[int]] = {}  # values, by producer id
        self._problems: list[str] = []

    @property
    def committed(self) -> int:
        """Transactions that somebody was told to be committed."""
        return sum(attempt.told is True for attempt in self.attempts)

    @property
    def aborted(self) -> int:
        """Transactions with an abort marker."""
        return sum(False in attempt.ends.values() for attempt in self.attempts)

    def take_problems(self) -> Iterator[str]:
        problems, self._problems = self._problems, []
        return iter(problems)

    # What clients do and are told

    def latest(self, transactional_id: str) -> Producer | None:
        """As far as anybody was told."""
        return self._latest.get(transactional_id)

    def begin_epoch(
        self, transactional_id: str, producer: Producer, before: Producer | None
    ) -> None:
        """``before`` was the latest when it was asked for."""
        if before is not None and before.id == producer.id and before.epoch >= producer.epoch:
            self._problems.append(f"{transactional_id} got {producer} after {before}")
        known = self._latest.get(transactional_id, producer)
        self._latest[transactional_id] = max(known, producer, key=lambda each: each.epoch)

    def is_latest(self, transactional_id: str, producer: Producer) -> bool:
        return self._latest.get(transactional_id) == producer

    def begin(self, transactional_id: str, producer: Producer) -> Attempt:
        attempt = Attempt(transactional_id, producer, len(self.attempts))
        self.attempts.append(attempt)
        return attempt

    def send(
        self, attempt: Attempt, value: int, partition: TopicPartition, records: Iterable[bytes]
    ) -> None:
        """A batch leaves. What is left of a transaction that has ended is nobody's."""
        attempt.values[value] = partition
        self.by_value[value] = attempt
        if not attempt.records.issuperset(records):
            self._problems.append(f"{value} left in {attempt}, and is of another one")
        if attempt.told is not None:
            self._problems.append(f"{value} left after the end of {attempt}")

    def ack(self, value: int, records: Iterable[bytes], *, was_latest: bool) -> None:
        """``was_latest``: of its producer no later epoch was known when it was sent."""
        attempt = self.by_value[value]
        attempt.acked.add(value)
        attempt.written.update(records)
        if not was_latest:
            self._problems.append(f"{attempt} was fenced, and wrote all the same")

    def ask(self, attempt: Attempt, *, committed: bool) -> None:
        """Its coordinator is asked to end it."""
        if attempt.wants is not None and attempt.wants is not committed:
            self._problems.append(f"{attempt} is asked to end otherwise")
        attempt.wants = committed

    def ended_by_fenced(self, attempt: Attempt) -> None:
        """Its coordinator took that from somebody who had been replaced before."""
        self._problems.append(f"{attempt} was fenced, and ended all the same")

    def tell(self, attempt: Attempt, *, committed: bool) -> None:
        attempt.told = committed
        missing = attempt.records - attempt.written
        if committed and missing:
            self._problems.append(f"{attempt}: {sorted(missing)} were not acked")
        self._judge(attempt)

    def give_up(self, transactional_id: str, why: object) -> None:
        """Its producer says that it is of no use any more, and no broker has said so."""
        self._problems.append(f"{transactional_id} is broken, and nobody replaced it: {why!r}")

    # What the logs say

    def see(self, partition: TopicPartition, producer_id: int, value: int) -> None:
        """A batch of a transaction, by a reader that reads everything."""
        self._open.setdefault((partition, producer_id), []).append(value)

    def see_marker(self, partition: TopicPartition, producer: Producer, *, commits: bool) -> None:
        for value in self._open.pop((partition, producer.id), []):
            attempt = self.by_value[value]
            known = attempt.ends.setdefault(partition, commits)
            if known != commits:
                self._problems.append(f"{attempt} ended twice in {partition}, and not the same way")
            if producer.epoch < attempt.producer.epoch:
                self._problems.append(f"{attempt} was ended by {producer}")
            self._judge(attempt)

    def is_decided(self, partition: TopicPartition, value: int) -> bool | None:
        """Whether a batch counts; None while no marker was seen."""
        return self.by_value[value].ends.get(partition)

    def open_values(self) -> dict[tuple[TopicPartition, int], list[int]]:
        """Batches that no marker ends, by partition and producer id."""
        return self._open

    def _judge(self, attempt: Attempt) -> None:
        ends = set(attempt.ends.values())
        if len(ends) > 1:
            self._problems.append(f"{attempt} is torn: {attempt.ends}")
        if attempt.told is not None and ends - {attempt.told}:
            self._problems.append(f"{attempt} ended otherwise: {attempt.ends}")
        if True in ends and attempt.wants is not True:
            self._problems.append(f"nobody asked to commit {attempt}: {attempt.ends}")
