"""Takes what a topic has to another one, with its offsets, in transactions over our client."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from threading import Event

from logquake.chaos.history.numbers import numbers, to_value
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.own.members import OwnMembership
from logquake.chaos.workloads.own.transactions import OwnTransactions
from logquake.chaos.workloads.sending import Record
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.errors import ClientError


class OwnMover:
    """KIP-447: what its group has gone on without is aborted, and taken again by whoever has it."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._plan = life.plan
        self._numbers = numbers(life.plan.ordinal)

    def run(self, stopping: Event) -> None:
        transactions = OwnTransactions(self._life, self._plan.target)
        targets = transactions.sender.partitions()
        with closing(OwnMembership(self._life)) as membership:
            while not stopping.is_set():
                taken = membership.take()
                if taken:
                    self._move(transactions, membership, taken, targets)

    def _move(
        self,
        transactions: OwnTransactions,
        membership: OwnMembership,
        taken: Sequence[ConsumerRecord],
        targets: range,
    ) -> None:
        try:
            begun = transactions.begin()
            for record in taken:
                transactions.sender.send(self._moved(record, targets, begun))
            offsets = membership.commits_in(begun, taken)
            transactions.sender.send_offsets(offsets, membership.metadata)
            transactions.commit()
        except ClientError as error:
            transactions.end_after(error)
            membership.begin_again()

    def _moved(self, record: ConsumerRecord, targets: range, begun: int) -> Record:
        """Into the partition of the same number, so that the order is the same there."""
        number = next(self._numbers)
        return Record(
            number,
            record.key or b"",
            to_value(number, self._plan.size),
            targets[record.partition % len(targets)],
            transaction=begun,
            origin=(str(record.place), record.offset),
        )
