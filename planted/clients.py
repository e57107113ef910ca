"""Bugs of producers and consumers, planted into the clients' own cores."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    PartitionsByTopic,
    Subscriptions,
)
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.fetch import completed
from logquake.client.consumer.fetch.batches import read, walked
from logquake.client.consumer.group.commits import Commits
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.partition_state import PartitionState
from logquake.client.consumer.subscription import Subscriptions as Wishes
from logquake.client.network.metadata import Metadata
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.delivery import Results
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.idempotence.sequences import SequenceBook
from logquake.client.producer.produce_requests import Result
from logquake.client.producer.sender import Sender
from logquake.client.producer.turns import Turns
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


def tell_batches_as_they_are_done(replace: Replace) -> None:
    """A callback is called before that of a record that was sent before."""

    def hasty(self: Turns, place: TopicPartition) -> None:
        done = [batch for batch in self._untold[place] if batch.fate is not None]
        for batch in done:
            self._untold[place].remove(batch)
            batch.tell()

    replace(Turns, "settled", hasty)


def reuse_the_sequence_of_what_was_given_up(replace: Replace) -> None:
    """What timed out may be written: the broker takes the next batch for it."""
    forget = SequenceBook.forget

    def reuse(self: SequenceBook, batch: ProducerBatch) -> None:
        forget(self, batch)
        sequences = self.partitions[batch.place]
        if batch.has_sequence and not sequences.in_flight:
            sequences.next = batch.stamp.base_sequence

    replace(SequenceBook, "forget", reuse)


def give_nothing_up(replace: Replace) -> None:
    """Retries go on when delivery.timeout.ms is over."""
    replace(Sender, "_give_up_overdue", lambda _self, _now_ms: None)
    replace(ProducerBatch, "is_overdue", lambda _self, _timeout_ms, _now_ms: False)


def believe_old_metadata(replace: Replace) -> None:
    """Whoever leads now, the one that was learned first is asked."""

    def ignore(_self: Metadata, *, after_progress: bool = False) -> None: ...

    replace(Metadata, "request_update", ignore)
    replace(Metadata, "leaders_told", lambda _self, _leaders, _nodes: None)


def take_a_lost_connection_for_an_ack(replace: Replace) -> None:
    """Nobody knows what became of the batch; the program is told that it is written."""
    complete = Sender._complete

    def believe(self: Sender, result: Result, now_ms: int) -> None:
        if result.code is ErrorCode.NETWORK_EXCEPTION:
            result = result._replace(code=ErrorCode.NONE)
        complete(self, result, now_ms)

    replace(Sender, "_complete", believe)


def tell_all_the_first_offset(replace: Replace) -> None:
    """Each record of a batch is said to be where its first one is."""
    replace(Results, "offset_of", lambda self, _index: self._base_offset)


def begin_an_epoch_after_any_error(replace: Replace) -> None:
    """What is in flight is sent in the next epoch, though it may be written in this one."""

    def begin(self: Idempotence, batch: ProducerBatch, _code: ErrorCode, _start: int) -> bool:
        self._leaves_gap(batch)
        return True

    replace(Idempotence, "may_retry", begin)


def draw_a_backoff_at_each_look(replace: Replace) -> None:
    """Who says when it is time and who sends mean different times: nobody comes back."""
    random = Random(1)

    def drawn(self: ProducerBatch, now_ms: int) -> int:
        if not self.attempts:
            return 0
        return max(0, int(self._backoff_ms * random.uniform(0.5, 2)) - self.waited_ms(now_ms))

    replace(ProducerBatch, "backoff_ms", drawn)


def commit_what_was_given_up(replace: Replace) -> None:
    """A commit names partitions that others read since."""
    consumed = Commits.consumed

    def all_ever(self: Commits) -> dict[TopicPartition, OffsetAndMetadata]:
        ever: dict[TopicPartition, OffsetAndMetadata] = self.__dict__.setdefault("_ever", {})
        ever.update(consumed(self))
        return dict(ever)

    replace(Commits, "consumed", all_ever)


def commit_ahead_of_the_program(replace: Replace) -> None:
    """Records are lost that the program was not given before it ended."""
    consumed = Commits.consumed

    def ahead(self: Commits) -> dict[TopicPartition, OffsetAndMetadata]:
        return {
            place: offset._replace(offset=offset.offset + 1)
            for place, offset in consumed(self).items()
        }

    replace(Commits, "consumed", ahead)


def hand_out_what_was_given_up(replace: Replace) -> None:
    """After a rebalance the program goes on with what it had."""
    assign = Wishes.assign_from_group

    def keep(self: Wishes, places: Collection[TopicPartition]) -> None:
        assign(self, {*self.assigned, *places})

    replace(Wishes, "assign_from_group", keep)


def hand_out_whole_batches(replace: Replace) -> None:
    """What comes before the position in its batch is handed out again."""
    replace(completed, "walked", lambda batch, _first, most: walked(batch, 0, most))
    replace(completed, "read", lambda batch, _first, most: read(batch, 0, most))


def assign_all_to_everybody(replace: Replace) -> None:
    """Each member reads everything."""
    assign = RangeAssignor.assign

    def all_of_it(
        self: RangeAssignor, partitions: PartitionsByTopic, members: Subscriptions
    ) -> Assignment:
        given = assign(self, partitions, members)
        everything = sorted({place for places in given.values() for place in places})
        return dict.fromkeys(given, everything)

    replace(RangeAssignor, "assign", all_of_it)


def advance_past_what_is_left(replace: Replace) -> None:
    """The position is one too far: a record is skipped at each poll."""
    advance = PartitionState.advance

    def too_far(self: PartitionState, offset: int, epoch: int) -> None:
        advance(self, offset + 1, epoch)

    replace(PartitionState, "advance", too_far)
