"""What ``consume`` reads: chosen partitions of a topic, or as a member what its group gives it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from logquake.client.commits import commit_offsets, committed_offsets
from logquake.client.cursor import NO_END, PartitionCursor, ReadOptions
from logquake.client.errors import BrokerError, ClientError
from logquake.client.membership import Membership
from logquake.client.offset_resets import ResetGoal, log_ranges, offset_after
from logquake.client.offsets import latest_offsets
from logquake.client.routing import Router
from logquake.client.tail import Tail
from logquake.cluster.cli.output import say
from logquake.cluster.cli.record_output import RecordOutput
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

COMMIT_INTERVAL_MS = 5_000  # auto.commit.interval.ms
# The group has gone on without this member: whoever reads next begins at the commit before.
_NOT_MINE_ANY_MORE = (
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
)


def tail_from(
    router: Router,
    places: Iterable[TopicPartition],
    begin: ResetGoal,
    options: ReadOptions,
    *,
    to_end: bool,
    committed: Mapping[TopicPartition, int] | None = None,
) -> Tail:
    """From what is committed, or else from `begin`; with `to_end` as far as the logs reach now.

    A shift counts from the end. Raises ClientError.
    """
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(places):
        by_topic[topic].append(partition)
    cursors = []
    for topic, partitions in by_topic.items():
        ends = latest_offsets(router, topic, isolation=options.isolation) if to_end else {}
        for partition, log in log_ranges(router, topic, partitions, begin).items():
            place = TopicPartition(topic, partition)
            start = (committed or {}).get(place)
            if start is None:
                start = offset_after(place, log.latest, log, begin)
            cursors.append(PartitionCursor(place, start, options, ends.get(partition, NO_END)))
    return Tail(router, cursors, options)


def read_on(tail: Tail, output: RecordOutput) -> None:
    """Until the output is full or every partition at its end."""
    while not (output.is_full or tail.is_at_end):
        output.take(tail.turn())


class GroupReading:
    """Reads as a member. What was written is committed now and then, and before others go on."""

    def __init__(
        self,
        router: Router,
        group_id: str,
        topics: Sequence[str],
        begin: ResetGoal,
        options: ReadOptions,
        *,
        to_end: bool,
    ) -> None:
        self._router = router
        self._group_id = group_id
        self._membership = Membership(router, group_id, topics)
        self._begin = begin
        self._options = options
        self._to_end = to_end
        self._commit_due_ms = 0

    def run(self, output: RecordOutput) -> None:
        """Until the output is full or, with `to_end`, all at their ends; then it leaves."""
        try:
            while not self._generation(output):
                pass
        finally:
            self._leave(output)

    def _generation(self, output: RecordOutput) -> bool:
        """Whether there is nothing more to read; else the group goes into another generation."""
        assigned = self._membership.join()
        say(f"group {self._group_id} reads here: {', '.join(map(str, assigned)) or 'nothing'}")
        tail = tail_from(
            self._router,
            assigned,
            self._begin,
            self._options,
            to_end=self._to_end,
            committed=committed_offsets(self._router, self._group_id, require_stable=True),
        )
        self._put_off_commit()
        while not (output.is_full or (self._to_end and tail.is_at_end)):
            if self._membership.must_rejoin():
                self._commit(output)
                return False
            self._read(tail, output)
        return True

    def _read(self, tail: Tail, output: RecordOutput) -> None:
        if tail.is_at_end:  # nothing is assigned
            self._router.clock.sleep_ms(self._options.fetch_max_wait_ms)
            return
        output.take(tail.turn())
        if self._router.clock.now_ms() >= self._commit_due_ms:
            self._commit(output)

    def _commit(self, output: RecordOutput) -> None:
        self._put_off_commit()
        if not output.positions:
            return
        try:
            commit_offsets(self._router, self._membership.committer, output.positions)
        except BrokerError as error:
            if error.code not in _NOT_MINE_ANY_MORE:
                raise
        output.positions.clear()

    def _put_off_commit(self) -> None:
        self._commit_due_ms = self._router.clock.now_ms() + COMMIT_INTERVAL_MS

    def _leave(self, output: RecordOutput) -> None:
        try:
            self._commit(output)
            self._membership.leave()
        except ClientError as error:
            say(f"group {self._group_id} was not left in order: {error}")
