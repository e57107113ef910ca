"""What can be broken inside a broker of a cluster that was started with ``faults``.

Every method returns a Fault that heals at the end of its block, or with heal(). What is not healed
ends with this object's close(), or with its process, however that ends: orders belong to the
connection that gave them.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypedDict, Unpack

from logquake.cluster.control.client import ControlClient, connect
from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import (
    CHANGES,
    NEED_SPACE,
    SYNCS,
    FailCalls,
    Limit,
    Order,
    SkewClock,
    SlowCalls,
    SlowStart,
    Starve,
    StrobeClock,
    to_json,
)
from logquake.cluster.layout import Layout
from logquake.cluster.running.deeds import Deeds, deed
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.flipped_bits import flip_bit
from logquake.cluster.running.lost_files import cut_file, lose_files, lose_segment
from logquake.cluster.running.observed import COMMAND_TIMEOUT_S, Target
from logquake.cluster.running.waits import WaitingCluster
from logquake.wire.topic_partition import TopicPartition


class Until(TypedDict, total=False):
    """How long an order stands: ``for_s`` seconds at most; one that ``stays`` is not ended by the
    end of who gave it.
    """

    for_s: float | None
    stays: bool


class InsideFaults(WaitingCluster):
    """Paths are patterns as orders.py:DiskOrder has them; a log directory is counted from 1 on."""

    deeds: Deeds

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._asking = Lock()

    # Its disk

    @deed
    def disk_full(
        self, target: Target, *, log_dir: int | None = None, **until: Unpack[Until]
    ) -> Fault:
        """Writes and new files fail with ENOSPC, in one log directory or all."""
        name = self.member_name(target)
        path = self._within(name, log_dir)
        return self._order(name, FailCalls(NEED_SPACE, path, error="ENOSPC"), **until)

    @deed
    def slow_disk(
        self,
        target: Target,
        ms: float,
        *,
        calls: tuple[str, ...] = ("write", *SYNCS),
        path: str = "*",
        **until: Unpack[Until],
    ) -> Fault:
        """Every such call takes so much longer: its thread waits, the broker's loop for writes."""
        return self._order(
            self.member_name(target), SlowCalls(tuple(calls), path, delay_ms=ms), **until
        )

    @deed
    def disk_error(
        self,
        target: Target,
        call: str = "write",
        *,
        nth: int | None = None,
        path: str | None = None,
        error: str = "EIO",
        **until: Unpack[Until],
    ) -> Fault:
        """The nth such call from now fails, of calls on paths that match; without nth every one."""
        times = None if nth is None else 1
        order = FailCalls((call,), path or "*", nth or 1, times, error=error)
        return self._order(self.member_name(target), order, **until)

    @deed
    def read_only_disk(
        self, target: Target, *, log_dir: int | None = None, **until: Unpack[Until]
    ) -> Fault:
        """Whatever would change something fails with EROFS, as after a remount for errors."""
        name = self.member_name(target)
        return self._order(
            name, FailCalls(CHANGES, self._within(name, log_dir), error="EROFS"), **until
        )

    @deed
    def lose_log_dir(self, target: Target, log_dir: int = 1, **until: Unpack[Until]) -> Fault:
        """Every call within a log directory fails with EIO, as of a disk that was pulled out.

        The data is there again when it is healed; a broker looks at it at its next start.
        """
        name = self.member_name(target)
        return self._order(name, FailCalls(path=self._within(name, log_dir)), **until)

    @deed
    def flip_bit(self, target: Target, topic: str, partition: int, offset: int) -> Fault:
        """Flip a bit of the batch that holds an offset, in this broker's file; it may run or not.

        Nothing heals it but the cluster.
        """
        name = self.member_name(target)
        flip_bit(self._data_dirs(name), TopicPartition(topic, partition), offset)
        return Fault(name, self.leader_epochs(), lambda: None)

    @deed
    def lose_files(self, target: Target, path: str) -> Fault:
        """Files of its log directories whose paths match are gone; it may run or not.

        Nothing heals it but the broker's next start, and the cluster.
        """
        name = self.member_name(target)
        lose_files(self._data_dirs(name), path)
        return Fault(name, self.leader_epochs(), lambda: None)

    @deed
    def lose_segment(self, target: Target, topic: str, partition: int, offset: int) -> Fault:
        """The segment that has this offset is gone, its indexes too; otherwise as lose_files()."""
        name = self.member_name(target)
        lose_segment(self._data_dirs(name), TopicPartition(topic, partition), offset)
        return Fault(name, self.leader_epochs(), lambda: None)

    @deed
    def cut_file(self, target: Target, path: str, *, to_bytes: int | None = None) -> Fault:
        """The last file by path that matches is cut short, to half if not told; otherwise as
        lose_files().
        """
        name = self.member_name(target)
        cut_file(self._data_dirs(name), path, to_bytes)
        return Fault(name, self.leader_epochs(), lambda: None)

    # Its clock

    @deed
    def clock_skew(
        self, target: Target, ms: int = 0, *, drift_ppm: float = 0, **until: Unpack[Until]
    ) -> Fault:
        """The wall clock is ms ahead (or behind, below 0), and by drift_ppm more every second."""
        return self._order(self.member_name(target), SkewClock(ms, drift_ppm), **until)

    @deed
    def clock_jump(
        self, target: Target, ms: int, *, every_ms: int = 1000, **until: Unpack[Until]
    ) -> Fault:
        """The wall clock jumps by ms and back, at once and every so often."""
        return self._order(self.member_name(target), StrobeClock(ms, every_ms), **until)

    # Its process

    @deed
    def starve(
        self, target: Target, share: float, *, seed: int = 0, **until: Unpack[Until]
    ) -> Fault:
        """Stop the process for a share of the time, in slices of 50 to 400 ms."""
        return self._order(self.member_name(target), Starve(share, seed), **until)

    @deed
    def slow_start(self, target: Target, ms: int, **until: Unpack[Until]) -> Fault:
        """A start takes so much longer; a broker that runs notices nothing."""
        return self._order(self.member_name(target), SlowStart(ms), **until)

    @deed
    def memory_limit(self, target: Target, limit_bytes: int, **until: Unpack[Until]) -> Fault:
        """The address space of the process may not grow beyond this (RLIMIT_AS)."""
        return self._order(self.member_name(target), Limit("memory", limit_bytes), **until)

    @deed
    def file_limit(self, target: Target, files: int, **until: Unpack[Until]) -> Fault:
        """No descriptor of this number or above can be had (RLIMIT_NOFILE)."""
        return self._order(self.member_name(target), Limit("files", files), **until)

    # Behind it

    def _order(self, name: str, order: Order, **until: Unpack[Until]) -> Fault:
        epochs = self.leader_epochs()
        given = str(self._own("order", member=name, order=to_json(order), **until))
        return Fault(name, epochs, lambda: self._own("heal", name=given))

    def orders(self) -> list[dict[str, Any]]:
        """Those that stand, whoever gave them: id, what, since_ms, until_ms, member, order."""
        orders: list[dict[str, Any]] = self.ask("orders")
        return orders

    def heal_orders(self, name: str | None = None) -> int:
        """End one, or all, whoever gave them; how many there were."""
        return int(self.ask("heal", name=name))

    def close(self) -> None:
        control = self.__dict__.pop("_control", None)
        if control is not None:
            control.close()
        super().close()

    @cached_property
    def _control(self) -> ControlClient:
        """The connection that owns the orders: they stand for as long as it does."""
        return connect(self.layout.control_socket)

    def _own(self, verb: str, **arguments: Any) -> Any:
        with self._asking:
            return self._control.ask(verb, timeout_s=COMMAND_TIMEOUT_S, **arguments)

    def _within(self, name: str, log_dir: int | None) -> str:
        if log_dir is None:
            return "*"
        dirs = self._data_dirs(name)
        if not 1 <= log_dir <= len(dirs):
            raise ClusterError(f"{name} has {len(dirs)} log directories, no number {log_dir}")
        return f"{dirs[log_dir - 1]}/*"

    def _data_dirs(self, name: str) -> list[Path]:
        """In the order of log.dirs."""
        first = self.layout.data_of(int(name.removeprefix("broker-")))
        count = len(list(first.parent.glob(f"{first.name}*")))
        return self.layout.data_dirs(int(name.removeprefix("broker-")), count)
