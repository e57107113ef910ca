"""The log directories are opened beside the loop, which can tell how far it is, or call it off."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from logquake.node.life.log_dir_loading import LogDirLoading
from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import LogDirError
from logquake.storage.log_config import LogConfig
from logquake.wire.records import Record, encode_batch
from tests.doubles.journal import MemoryJournal
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers

PARTITIONS = 3


class World:
    def __init__(self, scheduler: ManualScheduler, journal: MemoryJournal) -> None:
        self.scheduler, self.journal = scheduler, journal
        self.disk = MemoryDisk()
        self.workers = HeldWorkers()
        self.opened: list[LogDirs] = []
        self.on_config: Callable[[], None] = lambda: None

    def loading(self, *paths: str) -> LogDirLoading:
        loading = LogDirLoading(
            paths or ("/data",),
            LogDirOptions(1, "cluster", 0, self._config_of),
            disk=self.disk,
            scheduler=self.scheduler,
            workers=self.workers,
            journal=self.journal,
            done=self.opened.append,
        )
        loading.start()
        return loading

    def fill(self, path: str = "/data") -> LogDir:
        log_dir = open_log_dir(self.disk, path, LogDirOptions(1, "cluster", 0, self._config_of))
        for index in range(PARTITIONS):
            log = log_dir.create_log("orders", index, bytes(16), LogConfig())
            log.stage_as_leader(memoryview(encode_batch([Record(0, 1, None, b"v", ())])), 0, 0)
            log.commit()
        return log_dir

    def said(self) -> list[tuple[str, str]]:
        return [(event.what, event.why) for event in self.journal.events]

    def _config_of(self, _topic: str) -> LogConfig:
        self.on_config()
        return LogConfig()


@pytest.fixture
def world(scheduler: ManualScheduler, journal: MemoryJournal) -> World:
    return World(scheduler, journal)


def test_a_clean_directory_is_opened_without_a_scan(world: World) -> None:
    world.fill().close(clean=True)
    world.loading()
    assert world.opened == []
    world.workers.finish()
    assert len(list(world.opened[0].partitions())) == PARTITIONS
    assert world.said() == [("logs-loaded", "3 of 3 logs open, 0 bytes scanned after a clean stop")]


def test_it_tells_every_two_seconds_how_far_it_is(world: World) -> None:
    world.fill()
    world.disk.crash(Unsynced.KEPT)
    # Time passes while the worker works: two seconds a log.
    world.on_config = lambda: world.scheduler.advance(2_000)
    world.loading()
    world.workers.finish()
    world.scheduler.advance(10_000)
    whats, whys = zip(*world.said(), strict=True)
    assert whats == ("logs-loading",) * 3 + ("logs-loaded",)
    assert [why[:17] for why in whys] == [f"{n} of 3 logs open," for n in (0, 1, 2, 3)]
    assert whys[-1].endswith("bytes scanned after an unclean stop")


def test_what_was_cut_off_is_told(world: World) -> None:
    world.fill()
    world.disk.crash(Unsynced.KEPT)
    world.disk.open("/data/orders-1/00000000000000000000.log").pwritev([b"torn"], 69)
    world.loading()
    world.workers.finish()
    [repaired] = world.journal.of("log-repaired")
    assert repaired.subject == "/data/orders-1"
    assert repaired.why.startswith("4 bytes were cut off: segment 0")


def test_what_was_cut_off_is_told_even_if_the_directory_fails_after_it(world: World) -> None:
    world.fill()
    world.disk.crash(Unsynced.KEPT)
    world.disk.open("/data/orders-1/00000000000000000000.log").pwritev([b"torn"], 69)
    world.disk.replace("/data/orders-2/partition.metadata", b"nonsense")
    world.loading()
    with pytest.raises(LogDirError, match="no log directory can be used"):
        world.workers.finish()
    assert [what for what, _ in world.said()] == ["log-repaired", "log-dir-failed"]


def test_it_can_be_called_off_between_two_logs(world: World) -> None:
    world.fill()
    world.disk.crash(Unsynced.KEPT)
    loading = world.loading()
    asked: list[int] = []

    def cancel() -> None:
        asked.append(1)
        loading.cancel()

    world.on_config = cancel
    world.workers.finish()
    assert (world.opened, len(asked)) == ([], 1)
    world.scheduler.advance(10_000)
    assert world.said() == []
    world.on_config = lambda: None
    world.loading()  # the lock is free
    world.workers.finish()
    assert len(world.opened) == 1


def test_a_cancellation_that_comes_too_late_still_counts(world: World) -> None:
    loading = world.loading()
    loading.cancel()
    world.workers.finish()
    assert world.opened == []


def test_a_directory_that_is_refused_is_told_on_the_loop(world: World) -> None:
    world.fill()
    world.loading()
    with pytest.raises(LogDirError, match="in use by another broker"):
        world.workers.finish()


def test_every_directory_tells_of_itself(world: World) -> None:
    world.fill("/a").close(clean=True)
    world.disk.make_dirs("/b")
    world.loading("/a", "/b")
    world.workers.finish()
    assert list(world.opened[0].online) == ["/a", "/b"]
    (event,) = world.journal.events
    assert (event.what, event.subject) == ("logs-loaded", "/a")


def test_a_directory_whose_disk_fails_is_offline_from_the_start(world: World) -> None:
    world.fill("/b").close(clean=True)
    world.loading("/a", "/b")
    world.disk.fail_at(1, OSError(errno.EIO, "broken"))
    world.workers.finish()
    (dirs,) = world.opened
    assert (list(dirs.online), dirs.offline) == (["/b"], {"/a": "/a: [Errno 5] broken"})
    assert world.said()[0] == ("log-dir-failed", "/a: [Errno 5] broken")


def test_without_any_directory_the_broker_cannot_be(world: World) -> None:
    world.loading("/a", "/b")
    world.disk.fail_at(1, OSError(errno.EIO, "broken"), lasting=True)
    with pytest.raises(LogDirError, match=r"no log directory can be used: /a \(/a: .*; /b \("):
        world.workers.finish()


def test_another_brokers_directory_calls_the_others_off(world: World) -> None:
    world.fill("/a")
    world.loading("/a", "/b")
    with pytest.raises(LogDirError, match="in use by another broker"):
        world.workers.finish()
    world.scheduler.advance(10_000)
    assert world.said() == []
