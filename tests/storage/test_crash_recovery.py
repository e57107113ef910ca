"""A crash at every call that changes the disk, then recovery.

A scripted leader and follower life (appends, rolls, syncs, truncations, epochs, a clean restart) is
cut short at its n-th change, for every n. What the log then holds must be the prefix of a state it
was in: with the page cache kept, no shorter than the last committed one; without it, no shorter
than what was synced.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable

import pytest

from logquake.storage.errors import StorageError
from logquake.storage.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.log_dir import LogDir, LogDirOptions
from logquake.storage.memory_disk import MemoryDisk, PowerCutError, Unsynced
from logquake.storage.producer_state import ProducerStates
from logquake.wire.records import check_crc, iterate_batches

CONFIG = LogConfig(segment_bytes=2_000, index_interval_bytes=200, index_max_bytes=240)
OPTIONS = LogDirOptions(1, "cluster", 0, lambda _topic: CONFIG, unique=lambda: "0" * 32)
PAGE_BYTES = 64  # several to a batch, so that lost pages tear batches
MakeBatch = Callable[..., memoryview]
State = tuple[bytes, ...]


class Life:
    """Runs the script and keeps every state the log was in, or was about to be in."""

    def __init__(self, disk: MemoryDisk, make_batch: MakeBatch) -> None:
        self.disk = disk
        self.states: list[State] = [()]
        self.reached = 0  # index of the last state whose operation ended
        self.synced = 0  # index of the last state that a sync covered
        self.staged: State = ()
        self._make_batch = make_batch
        self._sequence = 0

    def run(self) -> None:
        self.create()
        for epoch in (0, 2, 3):
            self.append_runs(epoch)
            self.sync()
            self.append_runs(epoch)
            self.truncate(4 if epoch == 0 else 2)
        self.close_clean()
        self.open()
        self.append_runs(5)
        self.sync()

    def run_at_random(self, seed: int) -> None:
        rng = random.Random(seed)
        self.create()
        for epoch in range(18):
            choice = rng.randrange(8)
            if choice <= 3:
                for _ in range(rng.randint(1, 8)):
                    self.stage(epoch)
                self.commit()
            elif choice == 4:
                self.sync()
            elif choice <= 6:
                self.truncate(rng.randint(1, 12))
            else:
                self.close_clean()
                self.open()

    def create(self) -> None:
        self.open()
        self.log_dir.create_log("t", 0, bytes(range(16)), CONFIG)

    @property
    def log(self) -> Log:
        log = self.log_dir.log("t", 0)
        assert log is not None
        return log

    def open(self) -> None:
        self.log_dir = LogDir.open(self.disk, "data", OPTIONS)

    def append_runs(self, epoch: int) -> None:
        for run in range(3):
            for _ in range(run + 1):
                self.stage(epoch)
            self.commit()

    def stage(self, epoch: int) -> None:
        batch = self._make_batch(
            3,
            # Sizes vary, so that after a truncation the log rolls elsewhere than before.
            f"{epoch}-{self._sequence}" + "x" * (self._sequence * 37 % 150),
            1_000 * (self._sequence + 1),
            producer_id=7,
            producer_epoch=epoch,
            base_sequence=self._next_sequence(epoch),
        )
        self._sequence += 1
        self.log.stage_as_leader(batch, epoch, 0)
        self.staged += (bytes(batch),)

    def commit(self) -> None:
        state = self.states[self.reached] + self.staged
        self.staged = ()
        self._perform(state, self.log.commit)

    def truncate(self, batches: int) -> None:
        kept = self.states[self.reached][:-batches]
        offset = max(0, self.log.written_end_offset - 3 * batches)
        self._perform(kept, lambda: self.log.truncate_to(offset))

    def sync(self) -> None:
        self.log.sync()
        self.synced = self.reached
        self.log_dir.write_recovery_points()

    def close_clean(self) -> None:
        self.log_dir.close(clean=True)
        self.synced = self.reached

    def _perform(self, state: State, operation: Callable[[], object]) -> None:
        self.states.append(state)
        operation()
        self.reached = len(self.states) - 1

    def _next_sequence(self, epoch: int) -> int:
        entry = self.log.producers.get(7)
        return 0 if entry is None or entry.epoch != epoch else entry.last_sequence + 1


def count_calls(make_batch: MakeBatch) -> int:
    disk = MemoryDisk(PAGE_BYTES)
    Life(disk, make_batch).run()
    return disk.faults.changes


def batches_of(log: Log) -> State:
    """Every batch, each read by its own offset, its CRC checked."""
    found = []
    for header in list(log.headers(log.start_offset)):
        piece = log.read(header.last_offset, 1, up_to=log.end_offset)
        assert piece.first_offset == header.base_offset
        view = memoryview(piece.read())
        check_crc(view, 0, header)
        found.append(bytes(view))
    return tuple(found)


def common_prefix(states: list[State]) -> int:
    shortest = min(map(len, states))
    for length in range(shortest, 0, -1):
        if len({state[:length] for state in states}) == 1:
            return length
    return 0


def check_recovered(life: Life, since: int) -> None:
    """The log is a prefix of a state from index since on, and holds what all of them share."""
    candidates = life.states[since:]
    if life.staged:  # the crash came before commit() began
        candidates = [*candidates, candidates[-1] + life.staged]
    log = life.log_dir.log("t", 0)
    if log is None:
        assert common_prefix(candidates) == 0
        return
    batches = batches_of(log)
    assert len(batches) >= common_prefix(candidates)
    assert any(batches == state[: len(batches)] for state in candidates)
    check_derived_state(log, batches)


def check_derived_state(log: Log, batches: State) -> None:
    """Offsets are dense; producer state and leader epochs are what the batches say."""
    producers = ProducerStates()
    epochs: list[tuple[int, int]] = []
    expected = 0
    for batch in batches:
        ((_, header),) = iterate_batches(memoryview(batch))
        assert header.base_offset == expected
        expected = header.next_offset
        producers.append_data(header, header.base_offset, header.max_timestamp)
        if not epochs or epochs[-1][0] != header.partition_leader_epoch:
            epochs.append((header.partition_leader_epoch, header.base_offset))
    assert log.end_offset == log.producers.end_offset == expected
    assert [tuple(entry) for entry in log.epochs.entries] == epochs
    known, derived = log.producers.get(7), producers.get(7)
    assert (known is None) == (derived is None)
    if known is not None and derived is not None:
        assert (known.epoch, known.batches[-1]) == (derived.epoch, derived.batches[-1])
    last_timestamp = log.offset_of_max_timestamp()
    assert (last_timestamp is None) == (not batches)


def error_of(operation: Callable[[], object]) -> StorageError | None:
    try:
        operation()
    except StorageError as error:
        return error
    return None


def crash_at(
    call: int, make_batch: MakeBatch, unsynced: Unsynced, seed: int = 0
) -> tuple[MemoryDisk, Life]:
    disk = MemoryDisk(PAGE_BYTES)
    life = Life(disk, make_batch)
    disk.fail_at(call, PowerCutError())
    with pytest.raises(PowerCutError):
        life.run()
    disk.crash(unsynced, random.Random(seed))
    life.open()
    return disk, life


def test_a_killed_process_loses_nothing_committed(make_batch: MakeBatch) -> None:
    for call in range(1, count_calls(make_batch) + 1):
        _, life = crash_at(call, make_batch, Unsynced.KEPT)
        check_recovered(life, since=life.reached)


@pytest.mark.parametrize("seed", range(16))
def test_a_power_loss_at_any_point_of_a_random_life_loses_nothing_synced(
    make_batch: MakeBatch, seed: int
) -> None:
    disk = MemoryDisk(PAGE_BYTES)
    Life(disk, make_batch).run_at_random(seed)
    for call in range(1 + seed % 3, disk.faults.changes + 1, 3):
        disk = MemoryDisk(PAGE_BYTES)
        life = Life(disk, make_batch)
        disk.fail_at(call, PowerCutError())
        with pytest.raises(PowerCutError):
            life.run_at_random(seed)
        disk.crash(Unsynced.JOURNALED, random.Random(call))
        life.open()
        check_recovered(life, since=life.synced)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_power_loss_loses_nothing_synced(make_batch: MakeBatch, seed: int) -> None:
    for call in range(1, count_calls(make_batch) + 1):
        _, life = crash_at(call, make_batch, Unsynced.JOURNALED, seed * 1_000 + call)
        check_recovered(life, since=life.synced)


def test_power_that_goes_again_during_recovery_loses_nothing_synced(
    make_batch: MakeBatch,
) -> None:
    calls = count_calls(make_batch)
    for call in range(calls // 3, calls, 7):
        for second_call in (1, 3, 6, 9):
            disk = MemoryDisk(PAGE_BYTES)
            life = Life(disk, make_batch)
            disk.fail_at(call, PowerCutError())
            with pytest.raises(PowerCutError):
                life.run()
            rng = random.Random(call * 10 + second_call)
            disk.crash(Unsynced.JOURNALED, rng)
            disk.fail_at(second_call, PowerCutError())
            with pytest.raises(PowerCutError):
                life.run()
            disk.crash(Unsynced.JOURNALED, rng)
            life.open()
            check_recovered(life, since=life.synced)


def test_what_was_recovered_can_be_appended_to_and_survives_again(make_batch: MakeBatch) -> None:
    for call in range(40, count_calls(make_batch), 5):
        disk, life = crash_at(call, make_batch, Unsynced.JOURNALED, call)
        if life.log_dir.log("t", 0) is None:
            continue
        recovered = batches_of(life.log)
        life.states, life.reached, life.staged = [recovered], 0, ()
        life.append_runs(9)
        life.sync()
        disk.crash(Unsynced.JOURNALED, random.Random(call))
        life.open()
        assert batches_of(life.log) == life.states[-1]
        check_recovered(life, since=life.synced)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_failed_write_leaves_the_log_as_it_was_and_usable(
    make_batch: MakeBatch, code: int
) -> None:
    for call in range(1, 25):
        disk = MemoryDisk(PAGE_BYTES)
        life = Life(disk, make_batch)
        life.create()
        life.append_runs(0)
        before = batches_of(life.log)
        for _ in range(12):  # more than a segment, so that rolls fail too
            life.stage(1)
        disk.fail_at(call, OSError(code, "injected"))
        failure = error_of(life.log.commit)
        if failure is None:
            assert call > 1
            before += life.staged
        else:
            assert isinstance(failure.__cause__, OSError)
            assert life.log.end_offset == life.log.written_end_offset
            check_derived_state(life.log, before)
        assert batches_of(life.log) == before
        disk.heal()
        life.staged = ()
        life.states, life.reached = [before], 0
        life.append_runs(2)
        assert batches_of(life.log) == life.states[-1]
        life.close_clean()
        life.open()
        assert batches_of(life.log) == life.states[-1]
        check_derived_state(life.log, life.states[-1])


def test_while_a_failed_write_cannot_be_undone_nothing_is_served(make_batch: MakeBatch) -> None:
    disk = MemoryDisk(PAGE_BYTES)
    life = Life(disk, make_batch)
    life.create()
    life.append_runs(0)
    before = batches_of(life.log)
    life.stage(1)
    disk.fail_at(1, OSError(errno.EIO, "injected"), lasting=True)
    for _ in range(2):
        with pytest.raises(StorageError):
            life.log.commit()
        with pytest.raises(StorageError):
            life.log.read(0, 1, up_to=1)
    disk.heal()
    with pytest.raises(StorageError):
        life.log.commit()
    assert batches_of(life.log) == before
