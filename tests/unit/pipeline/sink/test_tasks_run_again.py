"""Rows are written once, wherever a task dies, loses an answer, or is run twice at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from logquake.client.errors import ClientError
from logquake.pipeline.sink.exactly_once import check_epoch, write_once
from logquake.pipeline.sink.marks import ExactlyOnceError, Task
from logquake.pipeline.sink.options import parse_write_options
from tests.unit.client.cluster_in_memory import FakeNetwork
from tests.unit.pipeline.driven_clients import Died, DrivenAdmin, DrivenProducer
from tests.unit.pipeline.sink.transactions_in_memory import TransactionsInMemory

OPTIONS = parse_write_options(
    {
        "kafka.bootstrap.servers": "boot:1",
        "topic": "t",
        "deliveryGuarantee": "exactly-once",
        "kafka.batch.size": "3",  # several batches of these rows
    }
)
TASK = Task("query", epoch=7, partition=0)
VALUES = [b"%02d" % number for number in range(6)]

Request = Callable[[], Any]


@pytest.fixture
def transactions() -> TransactionsInMemory:
    return TransactionsInMemory()


def rows(values: list[bytes] = VALUES) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(values), 4):
        some = values[at : at + 4]
        places = [int(value) % 2 for value in some]
        yield pa.RecordBatch.from_arrays(
            [pa.array(some, pa.binary()), pa.array(places, pa.int32())], ["value", "partition"]
        )


def attempt(
    transactions: TransactionsInMemory,
    before: Callable[[Request], Any] | None = None,
    task: Task = TASK,
    values: list[bytes] = VALUES,
) -> int:
    return write(transactions.network(before), task, rows(values))


def write(network: FakeNetwork, task: Task, batches: Iterator[pa.RecordBatch]) -> int:
    """In one process."""
    keys = {**OPTIONS.producer, "transactional.id": task.name}
    with (
        closing(DrivenAdmin(OPTIONS.admin, network)) as admin,
        closing(DrivenProducer(keys, network)) as producer,
    ):
        return write_once(producer, admin, task, batches, OPTIONS.topic)


def committed(transactions: TransactionsInMemory) -> list[list[bytes | None]]:
    return [values for _, values in sorted(transactions.values.items())]


ONCE: list[list[bytes | None]] = [list(VALUES[::2]), list(VALUES[1::2])]


@dataclass
class AtOne:
    """Carries an attempt's requests out, but for one, which it hands to ``fault``."""

    wanted: int
    fault: Callable[[Request], Any]
    count: int = 0

    def __call__(self, request: Request) -> Any:
        self.count += 1
        return self.fault(request) if self.count == self.wanted else request()


LATE = pytest.mark.parametrize("late_by", [0, 5], ids=["marks at once", "marks later"])


def every_request() -> range:
    unhurt = AtOne(0, unheard)
    attempt(TransactionsInMemory(), unhurt)
    return range(1, unhurt.count + 1)


def unheard(_: Request) -> None:
    raise Died


def answer_unheard(request: Request) -> None:
    request()
    raise Died


def answer_lost(request: Request) -> Exception:
    request()
    return ConnectionResetError("lost")


def test_one_attempt_writes_rows_and_a_mark(transactions: TransactionsInMemory) -> None:
    assert attempt(transactions) == len(VALUES)
    assert committed(transactions) == ONCE
    ((commit,),) = (each.values() for each in transactions.commits.values())
    assert (commit.offset, commit.metadata.split()[0]) == (7, "rows=6")


@LATE
@pytest.mark.parametrize("death", [unheard, answer_unheard])
def test_a_task_that_died_is_run_again(death: Callable[[Request], Any], late_by: int) -> None:
    written = []
    for wanted in every_request():
        transactions = TransactionsInMemory(late_by)
        with pytest.raises(Died):
            attempt(transactions, AtOne(wanted, death))
        written.append(attempt(transactions))
        assert committed(transactions) == ONCE
    # Only who died after its commit has left nothing to be done.
    assert written.count(0) == (1 if death is answer_unheard else 0)


def test_answers_that_are_lost_are_asked_for_again() -> None:
    for wanted in every_request():
        transactions = TransactionsInMemory()
        assert attempt(transactions, AtOne(wanted, answer_lost)) == len(VALUES)
        assert committed(transactions) == ONCE


@LATE
def test_of_two_attempts_at_a_time_one_counts(late_by: int) -> None:
    for wanted in every_request():
        transactions, written = TransactionsInMemory(late_by), []

        def another_amid(request: Request) -> Any:
            written.append(attempt(transactions))  # noqa: B023  # called at once
            return request()

        with suppress(ClientError):  # that it is fenced
            written.append(attempt(transactions, AtOne(wanted, another_amid)))
        assert sum(written) == len(VALUES)
        assert committed(transactions) == ONCE


@pytest.mark.parametrize("epochs", [[7], [6, 7]], ids=["the first", "after another epoch's"])
def test_a_mark_that_brokers_have_not_taken_over_yet_is_waited_for(epochs: list[int]) -> None:
    transactions = TransactionsInMemory(late_by=5)
    for epoch in epochs:
        assert attempt(transactions, task=TASK._replace(epoch=epoch)) == len(VALUES)
    assert attempt(transactions) == 0
    assert committed(transactions) == [len(epochs) * values for values in ONCE]
    assert not transactions.open_ids()


def test_the_next_epoch_is_written_after_it(transactions: TransactionsInMemory) -> None:
    attempt(transactions)
    assert attempt(transactions, task=Task("query", 8, 0)) == len(VALUES)
    with pytest.raises(ExactlyOnceError, match="epoch 7 is to be written after epoch 8 was"):
        attempt(transactions)
    assert committed(transactions) == [2 * values for values in ONCE]


@pytest.mark.parametrize("values", [[], VALUES[:3], [b"90", *VALUES[1:]]])
def test_other_rows_than_those_that_are_written_are_refused(
    transactions: TransactionsInMemory, values: list[bytes]
) -> None:
    attempt(transactions)
    with pytest.raises(ExactlyOnceError, match="the same rows each time"):
        attempt(transactions, values=values)
    assert committed(transactions) == ONCE


def test_a_task_without_rows_writes_no_mark(transactions: TransactionsInMemory) -> None:
    assert attempt(transactions, values=[]) == 0
    assert not transactions.commits
    assert attempt(transactions) == len(VALUES)


def test_rows_that_end_in_an_error_leave_nothing_open(transactions: TransactionsInMemory) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from rows()
        raise ValueError("a row of another kind")

    with pytest.raises(ValueError, match="another kind"):
        write(transactions.network(), TASK, broken())
    assert not transactions.open_ids()
    assert not committed(transactions)


def test_an_epoch_that_had_more_partitions_is_found_out(
    transactions: TransactionsInMemory,
) -> None:
    tasks = [Task("query", 7, partition) for partition in range(3)]
    for task in tasks:
        attempt(transactions, task=task)
    with closing(DrivenAdmin(OPTIONS.admin, transactions.network())) as admin:
        check_epoch(admin, tasks)
        check_epoch(admin, [Task("query", 8, 0)])
        with pytest.raises(ExactlyOnceError, match="rows of query-2 are written twice"):
            check_epoch(admin, tasks[:2])


def test_marks_of_partitions_that_an_epoch_has_not_are_asked_for_at_once(
    transactions: TransactionsInMemory,
) -> None:
    for partition in range(4):
        attempt(transactions, task=Task("query", 7, partition))
    before = transactions.questions
    with closing(DrivenAdmin(OPTIONS.admin, transactions.network())) as admin:
        check_epoch(admin, [Task("query", 8, 0)])
    assert transactions.questions - before == 1
