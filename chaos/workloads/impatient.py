"""A transactional producer that goes on without answers that are long in coming.

Each of its requests goes on a connection of its own (`asking.py`). A Produce that is not answered
in time is given up, and its transaction aborted; an EndTxn is asked again. What it asked first may
still be on its way, and arrive behind the abort's marker (KIP-890), or in the middle of the next
transaction (KAFKA-17754). That can happen to any client whose connection breaks with a request on
it; this one can be brought to it, and hears what became of the batch that it gave up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from itertools import count
from threading import Event
from typing import NamedTuple, TypeVar

from logquake.chaos.history.numbers import numbers, to_value
from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.asking import ANSWERED_WITHIN_MS, NOBODY, Asking
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.pacing import Pace
from logquake.chaos.workloads.sending import Record, SentRows
from logquake.chaos.workloads.transactions import ProducerOver
from logquake.chaos.workloads.whom import Whom
from logquake.client.clock import SleepingClock, SystemClock
from logquake.client.errors import BrokerError, ClientError, RequestTimedOutError
from logquake.client.settings.addresses import addresses
from logquake.cluster.observing.broker_connections import Dial, dial_as
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

TRANSACTION_TIMEOUT_MS = 60_000
REQUEST_TIMEOUT_MS = 30_000
_RETRY_BACKOFF_MS = 100
_LOOK_S = 0.05

# A broker says so before it appends, and the next batch may have the same sequence.
_REFUSALS = frozenset(
    {
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.TRANSACTION_ABORTABLE,
        ErrorCode.INVALID_PRODUCER_EPOCH,
    }
)


class _Batch(NamedTuple):
    """One record that is on its way."""

    record: Record
    sent: int  # the sequence of its row
    offset: Future[int]


class _GivenUp(Exception):  # noqa: N818 - the name says what happened
    """A batch that may be written some day, or never: nothing can follow it."""

    def __init__(self, batch: _Batch) -> None:
        super().__init__(f"record {batch.record.number} was given up")
        self.batch = batch


class ImpatientProducer:
    """A transaction is a record in every partition, one after the other, and then a commit; an
    abort where a broker has refused one. Who has given up a batch aborts, and is over: it waits for
    nothing more but what became of that batch.
    """

    def __init__(
        self, life: Life, dial: Dial | None = None, clock: SleepingClock | None = None
    ) -> None:
        plan = life.plan
        self._plan = plan
        self._history = life.history
        self._id = life.transactional_id
        self._random = life.random
        self._numbers = numbers(plan.ordinal)
        self._rows = SentRows(life.history, plan.topic)
        self._clock: SleepingClock = clock or SystemClock()
        dial = dial or dial_as(life.process, REQUEST_TIMEOUT_MS)
        self._whom = Whom(addresses(plan.bootstrap), dial)
        self._asking = Asking(self._whom, self._clock, self._id, TRANSACTION_TIMEOUT_MS)
        self._identity = NOBODY
        self._sequences: Counter[TopicPartition] = Counter()

    def run(self, stopping: Event) -> None:
        """Raises ProducerOver."""
        with closing(self._whom):
            try:
                self._run(stopping)
            except ClientError as error:
                raise ProducerOver(str(error)) from error

    def _run(self, stopping: Event) -> None:
        self._identify()
        places = self._persist(lambda: self._whom.partitions(self._plan.topic))
        pace = Pace(self._plan.rate, stopping.wait)
        for number in count(1):
            if self._plan.count and number > self._plan.count:
                return
            if not all(pace.comes_before(stopping) for _ in places):
                return
            self._carry_out(places, stopping)

    def _carry_out(self, places: list[TopicPartition], stopping: Event) -> None:
        begun = self._history.record(Kind.TRANSACTION_BEGUN, self._id)
        try:
            is_written = all(self._write(place, begun) for place in places)
        except _GivenUp as given_up:
            self._end(begun, stopping, committed=False)
            self._await_fate(given_up.batch, stopping)
            raise ProducerOver(str(given_up)) from None
        self._end(begun, stopping, committed=is_written)

    def _write(self, place: TopicPartition, begun: int) -> bool:
        """False if the broker has refused it. Raises _GivenUp, and ClientError after which nobody
        knows whether it is written.
        """
        self._persist(lambda: self._asking.add(self._identity, place))
        batch = self._send(place, begun)
        try:
            is_written = self._hear(batch, self._plan.patience_s)
        except TimeoutError:
            raise _GivenUp(batch) from None
        self._sequences[place] += is_written
        return is_written

    def _send(self, place: TopicPartition, begun: int) -> _Batch:
        number = next(self._numbers)
        key = b"key-%d" % self._random.randrange(self._plan.keys)
        value = to_value(number, self._plan.size)
        record = Record(number, key, value, place.partition, transaction=begun)
        sent = self._rows.sent(record)
        identity, sequence = self._identity, self._sequences[place]
        offset = self._persist(lambda: self._asking.produce(identity, place, sequence, key, value))
        return _Batch(record, sent, offset)

    def _hear(self, batch: _Batch, wait_s: float) -> bool:
        """Whether it was written; tells it. Raises TimeoutError without an answer, and ClientError
        where the answer does not say it.
        """
        try:
            offset = batch.offset.result(wait_s)
        except BrokerError as error:
            if error.code in _REFUSALS:
                self._rows.refused(batch.record, batch.sent, error.code.name)
                return False
            self._rows.unknown(batch.record, batch.sent, error.code.name)
            raise
        except ClientError as error:
            self._rows.unknown(batch.record, batch.sent, type(error).__name__)
            raise
        self._rows.acked(batch.record, batch.sent, batch.record.partition, offset)
        return True

    def _await_fate(self, batch: _Batch, stopping: Event) -> None:
        while not stopping.is_set():
            try:
                self._hear(batch, _LOOK_S)
            except TimeoutError:
                continue
            return
        self._rows.unknown(batch.record, batch.sent, "given up")

    def _end(self, begun: int, stopping: Event, *, committed: bool) -> None:
        """Returns when its markers are written: what comes now comes behind them."""
        asked, done = ("commit", "committed") if committed else ("abort", "aborted")
        self._history.record(Kind.TRANSACTION_ENDING, self._id, after=asked, caused_by=begun)
        self._persist(lambda: self._end_in_time(committed=committed))
        while self._persist(self._asking.is_open) and not stopping.is_set():
            stopping.wait(_LOOK_S)
        self._history.record(Kind.TRANSACTION_ENDED, self._id, after=done, caused_by=begun)
        if self._plan.new_epochs:
            self._identify()

    def _end_in_time(self, *, committed: bool) -> None:
        """Raises ClientError, one after which it is asked again where no answer came."""
        try:
            self._asking.end(self._identity, committed=committed).result(self._plan.patience_s)
        except TimeoutError:
            raise RequestTimedOutError(f"no end of the transaction of {self._id}") from None

    def _identify(self) -> None:
        """Sequences begin anew with every epoch."""
        self._identity = self._persist(lambda: self._asking.identify(self._identity))
        self._sequences.clear()

    def _persist(self, attempt: Callable[[], T]) -> T:
        """Again after what may pass. Raises ClientError."""
        deadline_ms = self._clock.now_ms() + ANSWERED_WITHIN_MS
        while True:
            try:
                return attempt()
            except ClientError as error:
                if not error.retriable or self._clock.now_ms() >= deadline_ms:
                    raise
            self._clock.sleep_ms(_RETRY_BACKOFF_MS)
