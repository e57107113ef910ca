"""A crash at one point of a life, what recovery makes of it, and whether life can go on.

The disk is forked at the point and crashed there, so that the life itself runs only once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from logquake.storage.dirs.log_dir import LogDir
from logquake.storage.dirs.opening import open_log_dir
from tests.doubles.memory_disk import MemoryDisk, PowerCutError, Unsynced
from tests.storage.crash.files import check_files
from tests.storage.crash.found import Found
from tests.storage.crash.life import CONFIGS, ROOT, Life, options
from tests.storage.crash.promises import check_log
from tests.storage.crash.story import Expectation, Story

Expectations = dict[str, Expectation]
_AGAIN_WHILE_RECOVERING = 0.25
_NUMBERS = {unsynced: number for number, unsynced in enumerate(Unsynced, 1)}


@dataclass(slots=True)
class Count:
    points: int = 0
    recoveries: int = 0


@contextmanager
def crashes_everywhere(life: Life, seed: int, count: Count, one_in: int = 1) -> Iterator[None]:
    """Within the block a crash is tried at every call that changes the disk, and every page.

    Or, where that takes too long, at one in so many of them.
    """
    chance = random.Random(seed)

    def crash(operation: str, path: str) -> None:
        if chance.randrange(one_in):
            return
        count.points += 1
        for unsynced in life.fates():
            number = count.points * len(Unsynced) + _NUMBERS[unsynced]
            expected = life.expectations(unsynced)
            try:
                Trial(life.disk, expected, unsynced, seed * 1_000_003 + number, count).run()
            except BaseException as error:
                error.add_note(f"unsynced {unsynced.name}, before: {operation} {path}")
                raise

    faults = life.disk.faults
    faults.watcher = crash
    try:
        yield
    finally:
        faults.watcher = None


class Trial:
    """One crashed disk; seed decides what chance leaves of it and which way life goes on."""

    def __init__(
        self,
        disk: MemoryDisk,
        expected: Expectations,
        unsynced: Unsynced,
        seed: int,
        count: Count,
    ) -> None:
        self._expected = expected
        self._unsynced = unsynced
        self._rng = random.Random(seed)
        self._count = count
        self._disk = disk.fork()
        self._disk.crash(unsynced, self._rng)

    def run(self) -> None:
        if self._rng.random() < _AGAIN_WHILE_RECOVERING:
            self._crash_while_recovering()
        log_dir = self._recover()
        found = self._check(log_dir)
        self._rng.choice((self._open_again, self._stop_in_order, self._go_on))(log_dir, found)

    def _crash_while_recovering(self) -> None:
        probe = self._disk.fork()
        open_log_dir(probe, ROOT, options())
        if not probe.faults.changes:
            return
        self._disk.fail_at(self._rng.randint(1, probe.faults.changes), PowerCutError())
        with pytest.raises(PowerCutError):
            self._recover()
        self._disk.crash(self._unsynced, self._rng)

    def _recover(self) -> LogDir:
        self._count.recoveries += 1
        return open_log_dir(self._disk, ROOT, options())

    # How life goes on

    def _open_again(self, _log_dir: LogDir, found: dict[str, Found]) -> None:
        """Recovery leaves nothing to be recovered."""
        self._disk.crash(Unsynced.KEPT)
        again = self._recover()
        assert all(log.recovery.truncated_bytes == 0 for log in again.logs.values())
        assert self._check(again) == found

    def _stop_in_order(self, log_dir: LogDir, found: dict[str, Found]) -> None:
        log_dir.close(clean=True)
        self._check_files(log_dir, closed=True)
        again = self._recover()
        assert again.was_clean
        assert all(log.recovery.scanned_bytes == 0 for log in again.logs.values())
        assert self._check(again) == found

    def _go_on(self, log_dir: LogDir, found: dict[str, Found]) -> None:
        """Topics that are gone are made again; what is appended survives as it did before."""
        life = Life(
            self._disk, {topic: self._story_from(topic, one) for topic, one in found.items()}
        )
        life.continue_with(log_dir)
        for topic, story in life.stories.items():
            if story.now.topic_id is None:
                life.create(topic)
            for _ in range(2):
                life.append(topic, *(life.batch(topic, count=4) for _ in range(5)))
        if self._rng.random() < 0.5:
            life.sync(self._rng.choice(list(CONFIGS)))
        self._disk.crash(self._unsynced, self._rng)
        self._expected = life.expectations(self._unsynced)
        self._check(self._recover())

    def _story_from(self, topic: str, found: Found) -> Story:
        """What was found is all that is known, and is on the platter."""
        return Story(
            CONFIGS[topic].compacted,
            [found.moment],
            lowest_start=found.start,
            highest_start=self._expected[topic].highest_start,
        )

    # Looking

    def _check(self, log_dir: LogDir) -> dict[str, Found]:
        found = {
            topic: check_log(log_dir.log(topic, 0), expected)
            for topic, expected in self._expected.items()
        }
        self._check_files(log_dir, closed=False)
        return found

    def _check_files(self, log_dir: LogDir, *, closed: bool) -> None:
        for (topic, _), log in log_dir.logs.items():
            check_files(self._disk, log.directory, CONFIGS[topic], closed=closed)
