"""The errors of the older APIs: those of kafka.common, kafka.producer and kafka.consumer."""

from __future__ import annotations

from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition


class QueueFullError(ClientError):
    """The asynchronous producer's queue had no room in time: the message is dropped."""


class FailedToSendError(ClientError):
    """Kafka's FailedToSendMessageException: some messages are not acknowledged after all retries.

    With acks they may have been written nevertheless, if a response was lost.
    """


class NoPartitionError(ClientError):
    """The partitioner chose a partition that the topic lacks (InvalidPartitionException)."""


class MessageTooLargeError(ClientError):
    """Kafka's MessageSizeTooLargeException: to continue, raise fetch.message.max.bytes above it."""

    def __init__(self, place: TopicPartition, offset: int) -> None:
        super().__init__(
            f"the message of {place} at offset {offset} is larger than fetch.message.max.bytes"
        )
        self.place = place
        self.offset = offset


class ConsumerTimeoutError(ClientError):
    """No message came for consumer.timeout.ms. The stream may be read again."""


class StreamsExistError(ClientError):
    """Kafka's MessageStreamsExistException: a connector creates its streams once."""


class RebalanceFailedError(ClientError):
    """Kafka's ConsumerRebalanceFailedException: rebalance.max.retries attempts failed."""


class NotRegisteredError(ClientError):
    """The consumer's own registration is gone: its ZooKeeper session ended."""

    retriable = True


class ZooKeeperError(ClientError):
    """ZooKeeper refused, its session ended meanwhile, or a node has invalid contents."""

    retriable = True


class ZooKeeperTimeoutError(ZooKeeperError):
    """ZooKeeper did not respond in time (ZkTimeoutException); the request may have succeeded."""
