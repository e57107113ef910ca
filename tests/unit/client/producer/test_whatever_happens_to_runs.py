"""Whatever becomes of requests: runs of records, amid single ones, are there once and in order, but
for those that are told not to be.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from logquake.client.errors import DeliveryError
from logquake.client.producer.appended import RUNS, Appended
from logquake.client.producer.runs import Run as RunOfValues
from logquake.wire.records import Record
from tests.unit.client.producer.runs_of_records import RunOfRecords
from tests.unit.client.producer.test_whatever_happens import (
    LONG_MS,
    PARTITIONS,
    SHORT_MS,
    Run,
)


class Piece(NamedTuple):
    """What went into one batch; ``told`` is why it failed."""

    partition: int
    values: list[bytes]
    told: list[Exception]


class RunWithRuns(Run):
    def __init__(self, seed: int, delivery_timeout_ms: int) -> None:
        super().__init__(seed, delivery_timeout_ms)
        self.pieces: list[Piece] = []
        self.order: list[bytes] = []

    def _append(self, value: bytes) -> None:
        if self._random.random() < 0.3:
            super()._append(value)
            self.order.append(self.sent[-1][1])
            return
        values = [value * 15 + letter for letter in (b"a", b"b", b"c", b"d", b"e", b"f")]
        self.order += values
        run: RunOfValues = RunOfRecords([Record(0, 0, None, each) for each in values])
        partition = self._random.randrange(PARTITIONS)
        while run.left:
            self._append_piece(partition, values[-run.left :], run)

    def _append_piece(self, partition: int, left: list[bytes], run: RunOfValues) -> None:
        leaders, told = self._sender.leaders(), list[Exception]()
        appended = self._accumulator.append(RUNS, "t", partition, run, leaders, self.now_ms, None)
        assert isinstance(appended, Appended)
        appended.delivery.when_failed(told.append)
        self.pieces.append(Piece(partition, left[: len(left) - run.left], told))


def check(run: RunWithRuns) -> None:
    for log in run.logs:
        assert len(log.values) == len(set(log.values))
        assert log.values == sorted(log.values, key=lambda value: run.order.index(value or b""))
    for partition, values, told in run.pieces:
        written = set(run.logs[partition].values).intersection(values)
        if not told:
            assert written == set(values)
        elif not any(isinstance(error, DeliveryError) and error.may_be_written for error in told):
            assert not written


@pytest.mark.parametrize("seed", range(20))
def test_with_time_enough(seed: int) -> None:
    run = RunWithRuns(seed, LONG_MS)
    run.play()
    check(run)
    told = [error for piece in run.pieces for error in piece.told]
    assert all("INVALID_RECORD" in str(error) for error in told), told


@pytest.mark.parametrize("seed", range(20))
def test_with_batches_that_are_given_up(seed: int) -> None:
    run = RunWithRuns(seed, SHORT_MS)
    run.play()
    check(run)
