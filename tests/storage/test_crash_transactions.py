"""A crash at every change of the disk in a life of transactions, then recovery.

Whatever is left of the log, its indexes of aborted transactions and its producers must say what
the records say: a committed reader is shown nothing aborted, and nothing undecided.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import pytest

from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.producers.entry import ProducerEntry
from logquake.storage.producers.recovery import replay_control
from logquake.storage.producers.state import ProducerStates
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.records import BatchFlag, ControlType, encode_end_marker
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk, PowerCutError, Unsynced

CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=150, transactions_verified=False)
OPTIONS = LogDirOptions(1, "cluster", 0, lambda _topic: CONFIG, unique=lambda: "0" * 32)
PAGE_BYTES = 32  # an entry of the index straddles pages
ANYWHERE = 2**62
MakeBatch = Callable[..., memoryview]


class Life:
    def __init__(self, disk: MemoryDisk, make_batch: MakeBatch) -> None:
        self._disk = disk
        self._make_batch = make_batch
        self._sequences = {pid: count() for pid in range(5)}

    def run(self) -> None:
        self.open()
        self._log_dir.create_log("t", 0, bytes(range(16)), CONFIG)
        for turn in range(3):
            self._write(4, transactional=False)
            for pid in (1, 2, 3):
                self._write(pid)
            self._end(1 + turn, ControlType.ABORT)
            self.log.sync()
            self._log_dir.offsets.write_recovery_points()
            self._write(2)
            self._end(2, ControlType.COMMIT if turn else ControlType.ABORT)
            self._end(3, ControlType.ABORT)
            self.log.truncate_to(self.log.end_offset - 1 - turn)
            self._write(1)
        self._log_dir.close(clean=True)
        self.open()
        self._write(1)
        self._end(1, ControlType.ABORT)

    def open(self) -> None:
        self._log_dir = open_log_dir(self._disk, "data", OPTIONS)

    @property
    def log(self) -> Log:
        return self._log_dir.logs[TopicPartition("t", 0)]

    def exists(self) -> bool:
        return ("t", 0) in self._log_dir.logs

    def _write(self, pid: int, *, transactional: bool = True) -> None:
        batch = self._make_batch(
            producer_id=pid,
            # An epoch of its own for each batch: sequences are not at issue here.
            producer_epoch=next(self._sequences[pid]),
            base_sequence=0,
            flags=BatchFlag.TRANSACTIONAL if transactional else 0,
        )
        self.log.stage_as_leader(batch, 0, 0)
        self.log.commit()

    def _end(self, pid: int, control_type: ControlType) -> None:
        marker = encode_end_marker(
            control_type,
            coordinator_epoch=0,
            producer_id=pid,
            producer_epoch=next(self._sequences[pid]),
            timestamp_ms=0,
        )
        self.log.stage_as_leader(memoryview(marker), 0, 0, internal=True)
        self.log.commit()


def told_by_records(log: Log) -> tuple[ProducerStates, list[AbortedTransaction]]:
    states = ProducerStates()
    aborted = []
    for header in list(log.headers(0)):
        if header.is_control:
            batch = log.read(header.base_offset, 1, up_to=log.end_offset).read()
            ended = replay_control(states, memoryview(batch), header)
            if ended is not None:
                aborted.append(ended)
        else:
            states.append_data(header, header.base_offset, header.max_timestamp)
    return states, aborted


def in_short(entry: ProducerEntry) -> tuple[int, ...]:
    """What a snapshot keeps, but for the timestamp of the last batch."""
    return (entry.producer_id, entry.epoch, entry.last_sequence, entry.current_txn_first_offset)


def check(log: Log) -> None:
    states, aborted = told_by_records(log)
    assert log.aborted_transactions(0, ANYWHERE) == aborted
    assert [in_short(one) for one in log.producers.entries()] == [
        in_short(one) for one in states.entries()
    ]
    log.replicated_to(log.end_offset)
    assert log.first_unstable_offset == states.transactions.first_undecided_offset


def test_the_life_has_what_it_takes(make_batch: MakeBatch) -> None:
    life = Life(MemoryDisk(PAGE_BYTES), make_batch)
    life.run()
    check(life.log)
    assert len(life.log.aborted_transactions(0, ANYWHERE)) >= 5
    assert life.log.size > 2 * CONFIG.segment_bytes


@pytest.mark.parametrize("unsynced", list(Unsynced))
def test_indexes_and_producers_agree_with_the_records_after_a_crash(
    make_batch: MakeBatch, unsynced: Unsynced
) -> None:
    whole = MemoryDisk(PAGE_BYTES)
    Life(whole, make_batch).run()
    for change in range(1, whole.faults.changes + 1):
        disk = MemoryDisk(PAGE_BYTES)
        life = Life(disk, make_batch)
        disk.fail_at(change, PowerCutError())
        with pytest.raises(PowerCutError):
            life.run()
        disk.crash(unsynced, random.Random(change))
        life.open()
        if life.exists():
            check(life.log)
