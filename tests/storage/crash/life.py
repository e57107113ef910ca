"""A log directory's life: operations on it, each told to the story of its partition.

A workload step is a few calls of these. What an operation does not promise (a sync that did not
end, a checkpoint that was not written) the story does not claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from logquake.storage.cleaner.cleaning import Finished, Replacement
from logquake.storage.cleaner.plan import CleanerBounds
from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import StorageError, disk_faults
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.records import (
    BatchFlag,
    Codec,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
)
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.storage.crash.story import Expectation, Moment, Story

T = TypeVar("T")

ROOT = "data"
EVENTS, TABLE, SAFE, PASSING = "events", "table", "safe", "passing"
_SMALL = LogConfig(
    segment_bytes=1_600,
    index_interval_bytes=150,
    index_max_bytes=240,
    transactions_verified=False,
)
CONFIGS = {
    EVENTS: _SMALL,
    TABLE: replace(_SMALL, compacted=True, deleted=False, delete_retention_ms=0),
    SAFE: replace(_SMALL, flush_messages=1),
    PASSING: _SMALL,
}
_LATER_MS = 1_000_000
_LATER_EPOCH = 1_000


def options() -> LogDirOptions:
    return LogDirOptions(1, "cluster", 0, CONFIGS.__getitem__, unique=lambda: "0" * 32)


@dataclass(frozen=True, slots=True)
class Producer:
    """Who writes; without an id, nobody in particular."""

    producer_id: int = -1
    epoch: int = -1
    transactional: bool = False


NOBODY = Producer()


class Life:
    """``stories`` by topic; every topic has partition 0 alone."""

    def __init__(self, disk: MemoryDisk, stories: dict[str, Story] | None = None) -> None:
        self.disk = disk
        self.stories = stories or {
            topic: Story(is_compacted=config.compacted) for topic, config in CONFIGS.items()
        }
        self.is_open = False
        # Topics of which something else than an append failed: their broker opens them anew.
        self.offline: set[str] = set()
        self.epoch = 0
        self.now_ms = 1_000
        # Files were renamed whose order the disk must keep (log/retiring.py, cleaner/swap.py).
        self.relies_on_order = False
        self._written = 0
        self._topic_ids = 0

    def fork(self) -> Life:
        """As after the death of this process, opened again."""
        disk = self.disk.fork()
        disk.crash(Unsynced.KEPT)
        other = Life(disk, {topic: story.copy() for topic, story in self.stories.items()})
        other.epoch, other.now_ms = self.epoch, self.now_ms
        other.relies_on_order = self.relies_on_order
        other._written, other._topic_ids = self._written, self._topic_ids
        other.open()
        return other

    def log(self, topic: str) -> Log:
        log = self.log_dir.log(topic, 0)
        assert log is not None
        return log

    def fates(self) -> tuple[Unsynced, ...]:
        """What may become of the unsynced in a crash now."""
        return tuple(
            fate for fate in Unsynced if not (self.relies_on_order and fate is Unsynced.SCATTERED)
        )

    def expectations(self, unsynced: Unsynced) -> dict[str, Expectation]:
        return {topic: story.expectation(unsynced) for topic, story in self.stories.items()}

    # The directory

    def continue_with(self, log_dir: LogDir) -> None:
        """Take over a directory that is open; whatever was written there, this comes later."""
        self.log_dir = log_dir
        self.epoch = _LATER_EPOCH
        self.now_ms = _LATER_MS
        self._written, self._topic_ids = 1_000, 100

    def open(self) -> None:
        self.log_dir = open_log_dir(self.disk, ROOT, options())
        self.is_open = True
        self.offline.clear()
        for (topic, _), log in self.log_dir.logs.items():
            now = self.stories[topic].now
            if log.start_offset < now.start:  # it was not checkpointed
                self.accept(topic, replace(now, start=log.start_offset))
            if log.topic_id is None and now.topic_id is not None:  # as a broker is told then
                log.assign_topic_id(now.topic_id)

    def close(self) -> None:
        self.is_open = False
        try:
            self.log_dir.close(clean=True)
        except StorageError:
            for story in self.stories.values():
                story.lowest_start = 0  # checkpoints may be written where another log failed
            raise
        self.relies_on_order = False
        for story in self.stories.values():
            story.sync()
            story.lowest_start = story.now.start

    def checkpoint(self) -> None:
        self.log_dir.offsets.write_recovery_points()
        self.log_dir.offsets.write_log_starts()
        self.log_dir.offsets.write_high_watermarks(
            {TopicPartition(EVENTS, 0): self.stories[EVENTS].now.end}
        )
        self._checkpointed()

    def create(self, topic: str) -> None:
        self._topic_ids += 1
        topic_id = bytes([self._topic_ids]) * 16
        self._perform(
            topic,
            Moment(topic_id),
            lambda: self.log_dir.create_log(topic, 0, topic_id, CONFIGS[topic]),
        )

    def write_topic_id(self, topic: str) -> None:
        """As a broker has it done by a worker, which may come after the first records."""
        with self._offline_if_it_fails(topic):
            self.log(topic).write_topic_id()

    def delete(self, topic: str) -> str:
        """The path of what is left to be removed."""

        def delete() -> str | None:
            path = self.log_dir.delete_log(topic, 0)
            self.log_dir.deleted.sync()
            return path

        path = self._perform(topic, Moment(), delete)
        self.stories[topic].sync()
        self.stories[topic].lowest_start = 0
        assert path is not None
        return path

    # Taking records away

    def delete_records(self, topic: str, offset: int) -> None:
        story = self.stories[topic]
        log = self.log(topic)
        moment = replace(story.now, start=offset)
        self._perform(topic, moment, lambda: log.raise_start(offset, log.written_end_offset))

    def retain(self, topic: str, **config: Any) -> None:
        """Apply retention with these settings, and free the space at once."""
        story, log = self.stories[topic], self.log(topic)
        log.reconfigure(replace(CONFIGS[topic], **config))
        self.relies_on_order = True
        # How far it goes is not for the story to know before.
        moment = replace(story.now, start=story.now.end)
        retired = self._perform(
            topic, moment, lambda: log.delete_old(self.now_ms, log.written_end_offset)
        )
        story.moments[-1] = replace(moment, start=log.start_offset)
        with disk_faults(topic):
            for one in retired:
                one.files.remove()

    def clean(self, topic: str) -> None:
        """Compact as far as it goes: no new moment, because no reader must see a difference."""
        log = self.log(topic)
        cleaning = log.cleaning
        self.relies_on_order = True
        to_clean = cleaning.assess(log.written_end_offset, self.now_ms)
        if cleaning.cleaned_to is None:
            cleaning.cleaned_to = to_clean.first_dirty
            self.log_dir.offsets.write_cleaned()
        work = cleaning.begin(to_clean, CleanerBounds(dedupe_bytes=4_096), self.now_ms)
        with self._offline_if_it_fails(topic), disk_faults(topic):
            while not isinstance(step := work.work(), Finished):
                if isinstance(step, Replacement):
                    cleaning.swap(work, step).remove()
        cleaning.cleaned_to = step.end_offset
        self.log_dir.offsets.write_cleaned()

    # Appending

    def append(self, topic: str, *batches: memoryview, internal: bool = False) -> None:
        """Staged one by one, written together."""
        log = self.log(topic)
        for batch in batches:
            log.stage_as_leader(batch, self.epoch, self.now_ms, internal=internal)
        moment = self.stories[topic].now.with_batches(map(bytes, batches))
        story = self.stories[topic]
        story.begin(moment)
        log.commit()
        story.end()
        if log.recovery_point == log.end_offset:
            story.sync()

    def accept(self, topic: str, moment: Moment) -> None:
        """After a failure: this is what there is, and what goes on from here."""
        self.stories[topic].begin(moment)
        self.stories[topic].end()

    def batch(
        self,
        topic: str,
        by: Producer = NOBODY,
        *,
        count: int = 3,
        codec: Codec = Codec.NONE,
        keys: str = "abcde",
        value: bytes | None = b"",
        after: int = 0,
    ) -> memoryview:
        """Records that no other batch has, of changing sizes; after: batches staged before it."""
        self._written += 1
        self.now_ms += 10
        records = [
            Record(
                index,
                self.now_ms + index,
                keys[(self._written + index) % len(keys)].encode(),
                None if value is None else b"%d-%d" % (self._written, index) + self._padding(),
            )
            for index in range(count)
        ]
        return memoryview(
            encode_batch(
                records,
                codec=codec,
                producer_id=by.producer_id,
                producer_epoch=by.epoch,
                base_sequence=self._next_sequence(topic, by) + after * count,
                flags=BatchFlag.TRANSACTIONAL if by.transactional else 0,
            )
        )

    def mark(self, topic: str, by: Producer, control_type: ControlType) -> None:
        """End the producer's transaction."""
        self.now_ms += 10
        marker = encode_end_marker(
            control_type,
            coordinator_epoch=0,
            producer_id=by.producer_id,
            producer_epoch=by.epoch,
            timestamp_ms=self.now_ms,
        )
        self.append(topic, memoryview(marker), internal=True)

    def lead_anew(self) -> None:
        self.epoch += 1

    # Cutting and syncing

    def truncate(self, topic: str, batches: int) -> None:
        """Drop the latest so many batches."""
        story = self.stories[topic]
        offset = self._start_of_batch(topic, batches)
        self._perform(topic, story.now.cut_at(offset), lambda: self.log(topic).truncate_to(offset))
        story.lowest_start = min(story.lowest_start, story.now.start)
        self.lead_anew()

    def truncate_together(self, *topics: str) -> None:
        """Drop the latest batch of each, as a follower of many does."""
        offsets = {topic: self._start_of_batch(topic, 1) for topic in topics}
        try:
            self.log_dir.prepare_cuts((self.log(topic), at) for topic, at in offsets.items())
        except StorageError:
            self.offline.update(topics)
            raise
        for topic in topics:
            self.truncate(topic, 1)

    def restart_at(self, topic: str, offset: int) -> None:
        story = self.stories[topic]
        moment = Moment(story.now.topic_id, offset, offset)
        self._perform(topic, moment, lambda: self.log(topic).truncate_fully_and_start_at(offset))
        self.lead_anew()

    def sync(self, topic: str) -> None:
        with self._offline_if_it_fails(topic):
            self.log(topic).sync()
        self.stories[topic].sync()

    def sync_rolled(self, topic: str) -> None:
        """As a broker does after a roll; the active segment stays unsynced."""
        log = self.log(topic)
        with self._offline_if_it_fails(topic):
            pending = log.begin_sync(rolled_only=True)
            try:
                with disk_faults(topic):
                    pending.run()
            except StorageError:
                log.fail_sync(pending)
                raise
        log.finish_sync(pending)
        self.stories[topic].synced_to = log.recovery_point

    @contextmanager
    def _offline_if_it_fails(self, topic: str) -> Iterator[None]:
        try:
            yield
        except StorageError:
            self.offline.add(topic)
            raise

    def _perform(self, topic: str, moment: Moment, operation: Callable[[], T]) -> T:
        story = self.stories[topic]
        story.begin(moment)
        with self._offline_if_it_fails(topic):
            result = operation()
        story.end()
        return result

    def _start_of_batch(self, topic: str, from_the_end: int) -> int:
        return self.stories[topic].now.batches[-from_the_end].header.base_offset

    def _checkpointed(self) -> None:
        """The file has only starts that are not told by the segments' own names."""
        for (topic, _), log in self.log_dir.logs.items():
            within = log.start_is_within_segment
            self.stories[topic].lowest_start = log.start_offset if within else 0

    def _next_sequence(self, topic: str, by: Producer) -> int:
        if by.producer_id < 0:
            return -1
        entry = self.log(topic).producers.get(by.producer_id)
        return 0 if entry is None or entry.epoch != by.epoch else entry.last_sequence + 1

    def _padding(self) -> bytes:
        return b"x" * (self._written * 37 % 90)
