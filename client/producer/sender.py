"""Sends what the accumulator has gathered, and handles the responses (Sender).

A core: `poll` does what is due, `next_due_ms` says when that is. A response is handled in the poll
after its arrival, which knows the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from logquake.client.errors import ClientError, RequestTimedOutError, UnsupportedVersionError
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.snapshot import STALE
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.numbering import Numbering, Unnumbered
from logquake.client.producer.other_requests import other_requests_of
from logquake.client.producer.produce_requests import (
    OLDEST_VERSION,
    Result,
    new_leaders,
    nodes_of,
    produce_request,
    results,
)
from logquake.client.producer.ready import Ready
from logquake.client.producer.settings import BatchingSettings, SendingSettings
from logquake.client.producer.statistics import SenderStatistics
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import ProduceRequest, ProduceResponse
from logquake.wire.topic_partition import TopicPartition


class _Sent(NamedTuple):
    """A batch in a request. ``was_doubtful``: an earlier attempt may have been written."""

    batch: ProducerBatch
    was_doubtful: bool


class _Answered(NamedTuple):
    sent: Sequence[_Sent]
    sent_ms: int
    answer: Answer


class Sender:
    def __init__(
        self,
        settings: SendingSettings,
        batching: BatchingSettings,
        accumulator: Accumulator,
        network: NetworkClient,
        metadata: Metadata,
        updates: MetadataUpdates,
        numbering: Unnumbered | Idempotence | Transactions,
    ) -> None:
        self.statistics = SenderStatistics()
        self._settings = settings
        self._delivery_timeout_ms = batching.delivery_timeout_ms
        self._accumulator = accumulator
        self._network = network
        self._metadata = metadata
        self._updates = updates
        self._numbering: Numbering = numbering
        self._other_requests = other_requests_of(
            numbering,
            network,
            metadata,
            accumulator,
            settings.retry_backoff_ms,
            lambda: self._requests > 0,
        )
        self._in_flight: defaultdict[TopicPartition, list[ProducerBatch]] = defaultdict(list)
        self._requests = 0  # without a response so far
        self._answered: list[_Answered] = []
        self._leaders = Leaders(metadata.snapshot)
        self._leaders_of = metadata.snapshot
        self._ready_at_ms: int | None = None

    # As a core

    def poll(self, now_ms: int) -> None:
        self._updates.poll(now_ms)
        if self._answered:
            answered, self._answered = self._answered, []
            for each in answered:
                self._requests -= 1
                self._take(each, now_ms)
        self._give_up_overdue(now_ms)
        if self._other_requests.poll(now_ms):
            self._send_what_is_ready(now_ms)
        else:  # nothing is left to send
            self._ready_at_ms = None
        if not self._metadata.update_delay_ms(now_ms):  # a response showed it to be stale
            self._updates.poll(now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        if self._answered:
            return now_ms
        due = (
            self._updates.next_due_ms(now_ms),
            self._ready_at_ms,
            self._accumulator.next_expiry_ms(),
            self._other_requests.next_due_ms(now_ms),
        )
        return min([each for each in due if each is not None], default=None)

    def abandon(self, why: ClientError) -> None:
        """Fail everything that is not done."""
        self._accumulator.close()
        self._accumulator.abort(why)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is waiting to be sent, and nothing is in flight."""
        return not (self._accumulator.has_undrained or self._requests)

    def records_held(self) -> int:
        """See `Accumulator.records_held`."""
        return self._accumulator.records_held

    def leaders(self) -> Leaders:
        """The leaders in the current metadata."""
        if self._leaders_of is not self._metadata.snapshot:
            self._leaders_of = self._metadata.snapshot
            self._leaders = Leaders(self._leaders_of)
        return self._leaders

    # What is sent to which broker

    def _send_what_is_ready(self, now_ms: int) -> None:
        leaders = self.leaders()
        ready = self._accumulator.ready(leaders, now_ms)
        for topic in ready.leaderless:
            self._metadata.use(topic, now_ms)
        if ready.leaderless:
            self._metadata.request_update()
        has_sent = False
        for node_id in self._able(ready, now_ms):
            batches = self._accumulator.drain(
                node_id, leaders, self._settings.max_request_bytes, now_ms
            )
            has_sent |= bool(batches)
            self._send(node_id, batches, now_ms)
        if has_sent and self._accumulator.has_undrained:  # so that more of it may leave at once
            ready.wait_at_most(0)
        self._ready_at_ms = None if ready.wait_ms is None else now_ms + ready.wait_ms

    def _able(self, ready: Ready, now_ms: int) -> list[int]:
        """Brokers that can take a request now. The network knows when others can."""
        able = []
        for node_id in ready.nodes:
            can_drain = self._network.ready(node_id, now_ms)
            self._accumulator.latencies.note(node_id, now_ms, can_drain=can_drain)
            if can_drain:
                able.append(node_id)
        return able

    def _send(self, node_id: int, batches: Sequence[ProducerBatch], now_ms: int) -> None:
        if not batches:
            return
        sent = [_Sent(batch, batch.may_be_written) for batch in batches]
        self._requests += 1
        for batch in batches:
            self._in_flight[batch.place].append(batch)
            if self._settings.is_one_at_a_time:
                self._accumulator.mute(batch.place)
        try:
            version = self._version(node_id)
        except UnsupportedVersionError as error:
            self._on_answer(sent, now_ms, error)
            return
        self.statistics.sent(batches, now_ms)
        for batch in batches:
            batch.may_be_written = True
        request = ClientRequest(
            produce_request(batches, self._settings),
            version,
            ProduceResponse if self._settings.acks else None,
            partial(self._on_answer, sent, now_ms),
            self._settings.request_timeout_ms,
        )
        self._network.send(node_id, request, now_ms)

    def _version(self, node_id: int) -> int:
        version = self._network.version_of(node_id, ProduceRequest)
        if version < OLDEST_VERSION:
            raise UnsupportedVersionError(f"broker {node_id} knows no record batches")
        return version

    def _on_answer(self, sent: Sequence[_Sent], sent_ms: int, answer: Answer) -> None:
        self._answered.append(_Answered(sent, sent_ms, answer))

    # Outcomes

    def _take(self, answered: _Answered, now_ms: int) -> None:
        if isinstance(answered.answer, ProduceResponse):
            throttle_ms = answered.answer.throttle_time_ms
            self.statistics.answered(now_ms - answered.sent_ms, throttle_ms, now_ms)
        doubtful = {each.batch: each.was_doubtful for each in answered.sent}
        told = list(results(list(doubtful), answered.answer))
        for result in told:
            batch = result.batch
            self._forget(batch)
            if not result.may_be_written:
                batch.may_be_written = doubtful[batch]
            self._complete(result, now_ms)
            if self._settings.is_one_at_a_time:
                self._accumulator.unmute(batch.place)
        self._metadata.leaders_told(new_leaders(told), nodes_of(answered.answer))
        if any(result.code in STALE for result in told):
            self._metadata.request_update()

    def _complete(self, result: Result, now_ms: int) -> None:
        """Errors of batches that were given up already are ignored."""
        batch, code = result.batch, result.code
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._numbering.written(batch, result.answer.base_offset)
            batch.written(result.answer.base_offset, result.answer.log_append_time_ms)
            self._accumulator.release(batch)
        elif batch.fate is not None:
            return
        elif self._may_split(batch, code):
            self.statistics.split(batch, result.error, now_ms)
            self._numbering.was_split(batch)
            self._accumulator.split(batch)
        elif self._may_retry(result, now_ms):
            self.statistics.retried(batch, result.error, now_ms)
            self._accumulator.try_again(batch, result.error, now_ms)
        else:
            self._fail(result, now_ms)

    def _may_split(self, batch: ProducerBatch, code: ErrorCode) -> bool:
        """Not if a leader may have the whole batch: it would reject the parts."""
        is_too_large = code == ErrorCode.MESSAGE_TOO_LARGE and batch.count > 1
        return is_too_large and not batch.has_unclear_sequence

    def _fail(self, result: Result, now_ms: int) -> None:
        batch = result.batch
        self.statistics.failed(batch, result.error, now_ms)
        is_unclear = batch.has_unclear_sequence
        self._numbering.failed(batch, result.error, leaves_gap=not is_unclear)
        if is_unclear:
            self._numbering.given_up(batch)
        batch.failed(result.error_of_record)
        self._accumulator.release(batch)

    def _may_retry(self, result: Result, now_ms: int) -> bool:
        batch = result.batch
        if batch.is_overdue(self._delivery_timeout_ms, now_ms):
            return False
        if batch.attempts >= self._settings.retries:
            return False
        return self._numbering.may_retry(batch, result.code, result.answer.log_start_offset)

    # Time-outs

    def _give_up_overdue(self, now_ms: int) -> None:
        expiry_ms = self._accumulator.next_expiry_ms()
        if expiry_ms is None or now_ms < expiry_ms:
            return
        overdue = [
            batch
            for batches in self._in_flight.values()
            for batch in batches
            if batch.is_overdue(self._delivery_timeout_ms, now_ms)
        ]
        for batch in overdue:
            self._forget(batch)
        for batch in [*self._accumulator.expired(now_ms), *overdue]:
            if batch.fate is None:
                self._give_up(batch, now_ms)

    def _give_up(self, batch: ProducerBatch, now_ms: int) -> None:
        error: ClientError = RequestTimedOutError(
            f"{batch.place}: {batch.count} records not written in {now_ms - batch.created_ms} ms, "
            f"delivery.timeout.ms is {self._delivery_timeout_ms}{self._why_not(batch)}"
        )
        self.statistics.failed(batch, error, now_ms)
        self._numbering.failed(batch, error, leaves_gap=False)
        if batch.has_sequence:  # Kafka: when it is sent again
            self._numbering.given_up(batch)
        batch.failed(lambda _: error)
        self._accumulator.release(batch)

    def _why_not(self, batch: ProducerBatch) -> str:
        """For the end of a sentence: why it was retried, and whether any broker responds."""
        failure = batch.last_failure
        told = "" if failure is None else f"; its last failure: {failure}"
        return f"{told}{self._network.trouble()}"

    def _forget(self, batch: ProducerBatch) -> None:
        """The batch is no longer in flight."""
        batches = self._in_flight.get(batch.place, [])
        if batch in batches:
            batches.remove(batch)
        if not batches:
            self._in_flight.pop(batch.place, None)
