"""What a client can meet. Every error says whether the same request may succeed later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


class ClientError(Exception):
    """Base of all errors of this package. A worker process may raise them: they can be pickled."""

    retriable = False

    def __reduce__(self) -> tuple[object, ...]:
        """Constructors take parts of the text, so it is not made by them again."""
        return BaseException.__new__, (type(self), *self.args), vars(self)


class SettingsError(ClientError):
    """One line on a key of a client's configuration: what is wrong with it, and what is allowed."""


class ClosedError(ClientError):
    """The client was closed, by whoever uses it or because its thread failed, which is logged; or
    it is that of the process that this one was forked from.
    """


class ConnectionLostError(ClientError):
    """No connection could be made, or it ended before the answer: what it asked may be done."""

    retriable = True


class TimedOutError(ClientError):
    """It took longer than it was given, as Kafka's TimeoutException."""

    retriable = True


class RequestTimedOutError(TimedOutError):
    """No answer came in time: what was asked may be done, now or later."""


class UnsupportedVersionError(ClientError):
    """Broker and client share no version of a request."""


class UnencodableError(ClientError):
    """A value that was given cannot be said in a request, in whatever version: its text names it.
    Nothing was asked.
    """


class MalformedResponseError(ClientError):
    """The broker's bytes make no sense; the connection is closed."""


class AuthenticationFailedError(ClientError):
    """The broker does not let us in, or its certificate is not trusted; the text says why, and
    nothing that is secret.
    """


class NoBrokersError(ClientError):
    """Whoever was asked knows of no broker yet: it has just started."""

    retriable = True


class NotConsumerGroupError(ClientError):
    """The group's members share something else than partitions."""


class NoLeaderError(ClientError):
    """The partition has no leader at the moment."""

    retriable = True


class BrokerError(ClientError):
    """An error code that a broker answered with."""

    def __init__(self, code: ErrorCode, context: str) -> None:
        super().__init__(f"{code.name}: {context}")
        self.code = code
        self.retriable = code.retriable


class ThrottlingQuotaExceededError(BrokerError):
    """A quota of changes to the cluster is used up; ``throttle_time_ms`` is when to come back."""

    def __init__(self, throttle_time_ms: int, context: str) -> None:
        super().__init__(ErrorCode.THROTTLING_QUOTA_EXCEEDED, context)
        self.throttle_time_ms = throttle_time_ms


class OffsetOutOfRangeError(BrokerError):
    """The offset is not in the partition's log: retention, or a truncation, has taken it.

    ``offsets`` are a consumer's positions that are not, by partition.
    """

    def __init__(
        self, context: str, offsets: Mapping[TopicPartition, int] = MappingProxyType({})
    ) -> None:
        super().__init__(ErrorCode.OFFSET_OUT_OF_RANGE, context)
        self.offsets = dict(offsets)


class NoGroupError(ClientError):
    """What was asked for is of a consumer with a group.id (Kafka's InvalidGroupIdException)."""


class NotSubscribedError(ClientError):
    """Nothing is read: subscribe() or assign() has to say what."""


class WakeupError(ClientError):
    """wakeup() ended the call; the consumer is as it was, and can go on."""


class ConcurrentUseError(ClientError):
    """A consumer is one thread's, or one task's, at a time; only wakeup() is for others."""


class RecordDeserializationError(ClientError):
    """The program's deserializer failed; seek past the record to go on. The cause is chained."""

    def __init__(self, place: TopicPartition, offset: int, what: str) -> None:
        super().__init__(f"the {what} of {place} at {offset} cannot be deserialized")
        self.place = place
        self.offset = offset


class NotAssignedError(ClientError):
    """The consumer does not read that partition: neither its group nor assign() gave it to it."""


class NoOffsetForPartitionError(ClientError):
    """Nothing is committed, and auto.offset.reset=none: seek(), or set it to earliest or latest."""

    def __init__(self, places: Sequence[TopicPartition]) -> None:
        named = ", ".join(map(str, places))
        super().__init__(f"no offset to begin from, and no reset policy: {named}")
        self.places = places


class CommitFailedError(ClientError):
    """Nothing is committed: others may have the partitions. Poll, and go on with what it assigns.

    Kafka's CommitFailedException: the member was out for too long, see max.poll.interval.ms.
    """


class RebalanceInProgressError(BrokerError):
    """Nothing is committed: the group rebalances. Poll until it is done, then commit again."""

    def __init__(self, context: str) -> None:
        super().__init__(ErrorCode.REBALANCE_IN_PROGRESS, context)


class RetriableCommitFailedError(ClientError):
    """A commit_async that was not tried again: a later one may succeed; `cause` says why."""

    retriable = True

    def __init__(self, cause: ClientError) -> None:
        super().__init__(f"the commit may be tried again: {cause}")
        self.cause = cause


class RebalanceListenerError(ClientError):
    """The program's own listener failed; what was to change has changed. The cause is chained."""


class AssignorError(ClientError):
    """An assignor failed, or has given out what it must not; its own error is chained."""


class CorruptRecordError(ClientError):
    """What was fetched cannot be read from ``offset`` on; seek past it to go on."""

    def __init__(self, place: TopicPartition, offset: int, why: str) -> None:
        super().__init__(f"{place} at {offset}: {why}")
        self.place = place
        self.offset = offset


class CallFailedError(ClientError):
    """A call of an admin client's met what it was not made for, in what it was given or answered:
    the cause is chained.
    """


class ReadStalledError(ClientError):
    """No record came for as long as the reader was told to wait."""


class DeliveryError(ClientError):
    """A batch was not acknowledged. With `may_be_written` it may be in the log all the same."""

    def __init__(self, cause: ClientError, *, may_be_written: bool) -> None:
        super().__init__(f"{cause} (the batch {'may be' if may_be_written else 'is not'} written)")
        self.cause = cause
        self.may_be_written = may_be_written


class SerializationError(ClientError):
    """A program's serializer failed, or there is none for what is no bytes."""


class RecordTooLargeError(ClientError):
    """A record could never be sent, whoever waits for how long."""


class TransactionError(ClientError):
    """Base of what a producer with a transactional.id is told at a call."""


class TransactionFailedError(TransactionError):
    """The transaction cannot be committed: abort_transaction(), and the producer goes on."""

    def __init__(self, cause: ClientError) -> None:
        super().__init__(f"abort_transaction() is all that can be done now: {cause}")
        self.cause = cause


class TransactionAbortedError(ClientError):
    """A record had not been sent when its transaction was aborted: it is not written."""


class TransactionStateError(TransactionError):
    """The call does not fit how it stands with transactions; nothing has changed.

    Kafka's IllegalStateException.
    """


class ProducerBrokenError(TransactionError):
    """The producer can do no more, and has to be closed."""

    def __init__(self, cause: ClientError) -> None:
        super().__init__(f"close() is all that can be done now: {cause}")
        self.cause = cause


class ProducerFencedError(TransactionError):
    """Another producer has the transactional.id by now: close this one."""

    def __init__(self, context: str) -> None:
        super().__init__(f"{context}: fenced, another producer has taken the transactional.id")


class ProducerClosedError(ClosedError):
    """It takes no more records, and what it had not sent yet is not written."""


def check(code: int, context: str, *, final: Collection[ErrorCode] = ()) -> None:
    """Raises BrokerError unless the code is NONE.

    `final` are codes that Kafka calls retriable and that answer the question all the same.
    """
    if code == ErrorCode.NONE:
        return
    error = broker_error(code, context)
    if error.code in final:
        error.retriable = False
    raise error


def broker_error(code: int, context: str) -> BrokerError:
    known = ErrorCode.of_peer(code)
    if known != code:
        context = f"{context} (error code {code})"
    if known is ErrorCode.OFFSET_OUT_OF_RANGE:
        return OffsetOutOfRangeError(context)
    return BrokerError(known, context)
