"""Bugs of a log on disk, and of what it knows of its producers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.planted.bug import Replace
from logquake.storage.cleaner.record_filter import RecordFilter
from logquake.storage.log.log import Log
from logquake.storage.log.sync import PendingSync
from logquake.storage.producers import entry, rules
from logquake.storage.producers.recovery import ProducerRecovery
from logquake.storage.producers.verification import Verifications
from logquake.wire.records import Record

# Producers


def forget_producers(replace: Replace) -> None:
    """Whoever starts, or truncates its log, knows no producer any more."""

    def run(recovery: ProducerRecovery, _start: int, end_offset: int, *_: object) -> None:
        recovery._states.load((), end_offset)

    replace(ProducerRecovery, "run", run)


def remember_two_batches(replace: Replace) -> None:
    """A producer that sends again what it had in flight is told that it skipped something."""
    replace(entry, "BATCHES_RETAINED", 2)


def append_what_repeats(replace: Replace) -> None:
    """A batch that was sent again is another one."""
    replace(rules, "find_duplicate", lambda _entry, _header: None)
    replace(rules, "_check_sequence", lambda _entry, _header: None)


# What is on disk


def sync_nothing(replace: Replace) -> None:
    """A sync is noted, and was none."""
    replace(PendingSync, "run", lambda _self: None)


def drop_the_last_value(replace: Replace) -> None:
    """Compaction takes the last record of a key along."""
    keeps = RecordFilter.keeps

    def keeps_less(self: RecordFilter, record: Record, header: Any, horizon: Any) -> bool:
        if record.key is not None and record.offset == self._latest.get(record.key):
            return record.offset > self._latest.latest_offset
        return keeps(self, record, header, horizon)

    replace(RecordFilter, "keeps", keeps_less)


# Transactions


def open_what_nobody_vouched_for(replace: Replace) -> None:
    """A batch opens a transaction here, though its coordinator knows of none."""
    replace(Verifications, "required", property(lambda _self: False, lambda _self, _asked: None))


def tell_of_no_aborts(replace: Replace) -> None:
    """Readers of committed records are not told which of what they got was aborted."""

    def aborted_in(_self: Log, _offset: int, _records: Any) -> Sequence[Any]:
        return []

    replace(Log, "aborted_in", aborted_in)


def read_past_what_is_open(replace: Replace) -> None:
    """The last stable offset is the high watermark, whatever is undecided."""
    mark = property(lambda replica: replica.high_watermark)
    replace(ReplicaLog, "last_stable_offset", mark)
