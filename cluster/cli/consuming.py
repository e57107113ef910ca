"""What ``consume`` reads: chosen partitions of a topic, or as a member what its group gives it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence

from logquake.client import Consumer, OffsetAndMetadata, RebalanceListener
from logquake.client.errors import ClientError, ReadStalledError
from logquake.cluster.cli.output import say
from logquake.cluster.cli.record_output import RecordOutput
from logquake.cluster.observing.offset_resets import LogRange, ResetGoal, ToTime, offset_after
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

COMMIT_INTERVAL_S = 5.0  # auto.commit.interval.ms
STALL_S = 60.0  # how long nothing may come where there is more
_POLL_MS = 1_000


class Reading:
    """A consumer's records on their way to the output."""

    def __init__(
        self, consumer: Consumer, output: RecordOutput, begin: ResetGoal, *, to_end: bool
    ) -> None:
        self._consumer = consumer
        self._output = output
        self._begin = begin
        self._to_end = to_end
        self._ends: dict[TopicPartition, int] = {}  # those that are not reached yet
        self._is_settled = False  # who reads what; not in the middle of a rebalance
        self._progress_s = time.monotonic()

    @property
    def is_done(self) -> bool:
        """Enough is written or, where it ends at all, everything."""
        is_at_end = self._to_end and self._is_settled and not self._ends
        return self._output.is_full or is_at_end

    def start(
        self, places: Collection[TopicPartition], committed: Mapping[TopicPartition, int]
    ) -> None:
        """With these too, from what is committed, or else where it was told to begin: a shift
        counts from the end. With ``to_end`` as far as the logs reach now. Raises ClientError.
        """
        fresh = [place for place in places if place not in committed]
        starts = {**committed, **self._beginnings(fresh)}
        ends = self._consumer.end_offsets(places) if self._to_end else {}
        for place, start in starts.items():
            self._consumer.seek(place, start)
        self._ends.update(ends)
        self._is_settled = True
        self._let_go(place for place in ends if starts[place] >= ends[place])

    def stop(self, places: Iterable[TopicPartition]) -> None:
        """They are somebody else's; start() will tell what is read from now on."""
        self._is_settled = False
        self._forget(places)

    def turn(self) -> None:
        """Raises ClientError: OffsetOutOfRangeError, or ReadStalledError where it has an end and
        does not come to it.
        """
        before = self._output.written
        records = self._consumer.poll(_POLL_MS)
        for place in records.partitions:
            end = self._ends.get(place)
            self._output.take(
                [one for one in records.records(place) if end is None or one.offset < end]
            )
        self._output.flush()
        self._let_go(self._at_end())
        self._check_progress(is_made=self._output.written > before)

    def _beginnings(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        if not places:
            return {}
        begin, consumer = self._begin, self._consumer
        earliest, latest = consumer.beginning_offsets(places), consumer.end_offsets(places)
        times = dict.fromkeys(places, begin.time_ms) if isinstance(begin, ToTime) else {}
        at_time = consumer.offsets_for_times(times) if times else {}
        found = {}
        for place in places:
            since = at_time.get(place)
            log = LogRange(
                earliest[place], latest[place], UNKNOWN_OFFSET if since is None else since.offset
            )
            found[place] = offset_after(place, log.latest, log, begin)
        return found

    def _at_end(self) -> list[TopicPartition]:
        """What is last may be a transaction's marker, which nobody is handed."""
        position = self._consumer.position
        return [place for place, end in self._ends.items() if position(place) >= end]

    def _let_go(self, places: Iterable[TopicPartition]) -> None:
        at_end = list(places)
        self._consumer.pause(at_end)
        self._forget(at_end)

    def _forget(self, places: Iterable[TopicPartition]) -> None:
        for place in places:
            self._ends.pop(place, None)

    def _check_progress(self, *, is_made: bool) -> None:
        if is_made or not self._ends:
            self._progress_s = time.monotonic()
        elif time.monotonic() - self._progress_s > STALL_S:
            listed = ", ".join(f"{place} to {end}" for place, end in sorted(self._ends.items()))
            raise ReadStalledError(f"nothing came for {STALL_S:g} s, and there is more: {listed}")


def read_alone(consumer: Consumer, reading: Reading, places: Collection[TopicPartition]) -> None:
    """Until it is done. Raises ClientError."""
    consumer.assign(places)
    reading.start(places, {})
    while not reading.is_done:
        reading.turn()


class GroupReading(RebalanceListener):
    """Reads as a member. What was written is committed now and then, and before others go on."""

    def __init__(
        self, consumer: Consumer, reading: Reading, output: RecordOutput, group_id: str
    ) -> None:
        self._consumer = consumer
        self._reading = reading
        self._output = output
        self._group_id = group_id
        self._committed_s = time.monotonic()

    def run(self, topics: Sequence[str]) -> None:
        """Until it is done. Raises ClientError."""
        self._consumer.subscribe(topics, self)
        try:
            while not self._reading.is_done:
                self._reading.turn()
                if time.monotonic() - self._committed_s >= COMMIT_INTERVAL_S:
                    self._consumer.commit_async(self._written(), self._output.committed)
        finally:
            self._commit()

    def on_assigned(self, places: Sequence[TopicPartition], /) -> None:
        reads = ", ".join(map(str, sorted(self._consumer.assignment())))
        say(f"group {self._group_id} reads here: {reads or 'nothing'}")
        told = self._consumer.committed(places) if places else {}
        committed = {place: each.offset for place, each in told.items() if each is not None}
        self._reading.start(places, committed)

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        self._commit()
        self._reading.stop(places)

    def on_lost(self, places: Sequence[TopicPartition], /) -> None:
        """Whoever reads them next begins at the commit before."""
        self._output.positions.clear()
        self._reading.stop(places)

    def _commit(self) -> None:
        written = self._written()
        self._output.positions.clear()
        try:
            if written:
                self._consumer.commit(written)
        except ClientError as error:
            say(f"some of what group {self._group_id} has read will be read again: {error}")

    def _written(self) -> dict[TopicPartition, OffsetAndMetadata]:
        self._committed_s = time.monotonic()
        return dict(self._output.positions)
