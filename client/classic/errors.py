"""What the older APIs raise: the exceptions of kafka.common, kafka.producer and kafka.consumer."""

from __future__ import annotations

from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition


class QueueFullError(ClientError):
    """The asynchronous producer's queue had no room in time: the message is dropped."""


class FailedToSendError(ClientError):
    """Kafka's FailedToSendMessageException: some messages are not acknowledged after all retries.

    With acks they may be written all the same, where an answer was lost.
    """


class NoPartitionError(ClientError):
    """The partitioner chose one that the topic has not (InvalidPartitionException)."""


class MessageTooLargeError(ClientError):
    """Kafka's MessageSizeTooLargeException: set fetch.message.max.bytes above it to go on."""

    def __init__(self, place: TopicPartition, offset: int) -> None:
        super().__init__(
            f"the message of {place} at offset {offset} is larger than fetch.message.max.bytes"
        )
        self.place = place
        self.offset = offset


class ConsumerTimeoutError(ClientError):
    """No message came for consumer.timeout.ms. The stream may be read on."""


class StreamsExistError(ClientError):
    """Kafka's MessageStreamsExistException: a connector makes its streams once."""


class RebalanceFailedError(ClientError):
    """Kafka's ConsumerRebalanceFailedException: rebalance.max.retries attempts came to nothing."""


class NotRegisteredError(ClientError):
    """The consumer's own registration is gone: its session of ZooKeeper's ended."""

    retriable = True


class ZooKeeperError(ClientError):
    """ZooKeeper refused, its session ended meanwhile, or a node makes no sense."""

    retriable = True


class ZooKeeperTimeoutError(ZooKeeperError):
    """ZooKeeper did not answer in time (ZkTimeoutException); what was asked may be done."""
