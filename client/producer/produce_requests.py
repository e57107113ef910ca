"""A Produce request, and the result of each batch in it (Sender.handleProduceResponse)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from logquake.client.errors import (
    BrokerError,
    ClientError,
    RequestTimedOutError,
    UnencodableError,
    UnsupportedVersionError,
)
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer
from logquake.client.network.moved_leaders import moved_leaders, nodes_at
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.delivery import FATE_UNKNOWN
from logquake.client.producer.settings import SendingSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

# The errors of a leader that has appended a batch, but is deposed, or has its topic deleted, while
# it waits for followers (DelayedProduce). With other errors the offset means nothing: some brokers
# leave it at 0.
_AFTER_APPEND: Final = frozenset(
    {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
)

# The first version with record batches; this producer does not write the older message sets.
OLDEST_VERSION = 3


class Result(NamedTuple):
    """The result of one batch."""

    batch: ProducerBatch
    code: ErrorCode
    answer: PartitionProduceResponse

    @property
    def may_be_written(self) -> bool:
        """True also if a leader returns both an error and an offset: it appended the batch, and was
        deposed while it waited for followers. One of these may have the batch, and lead now.
        """
        if self.code in _AFTER_APPEND:
            return self.answer.base_offset != UNKNOWN_OFFSET
        return self.code == ErrorCode.NONE or self.code in FATE_UNKNOWN

    def error_of_record(self, place_in_batch: int) -> ClientError:
        """If single records are at fault, the others' error says so (KIP-467)."""
        at_fault = {one.batch_index: one for one in self.answer.record_errors}
        if not at_fault:
            return self.error
        if place_in_batch not in at_fault:
            return BrokerError(ErrorCode.INVALID_RECORD, "another record of its batch is invalid")
        code = self.code if len(at_fault) == 1 else ErrorCode.INVALID_RECORD
        said = at_fault[place_in_batch].batch_index_error_message or self.answer.error_message
        return BrokerError(code, said or "refused")

    @property
    def error(self) -> ClientError:
        said = self.answer.error_message or "not written"
        return BrokerError(self.code, f"{self.batch.place}: {said}")


def produce_request(batches: Iterable[ProducerBatch], settings: SendingSettings) -> ProduceRequest:
    by_topic: defaultdict[str, list[PartitionProduceData]] = defaultdict(list)
    for batch in batches:
        data = PartitionProduceData(index=batch.place.partition, records=batch.build())
        by_topic[batch.place.topic].append(data)
    return ProduceRequest(
        transactional_id=settings.transactional_id,
        acks=settings.acks,
        timeout_ms=settings.request_timeout_ms,
        topic_data=[
            TopicProduceData(name=topic, partition_data=data) for topic, data in by_topic.items()
        ],
    )


def results(batches: Sequence[ProducerBatch], answer: Answer) -> Iterator[Result]:
    """One result per batch. A batch that the response lacks may have been written."""
    if isinstance(answer, ProduceRequest):  # acks=0: all we know is that it has left
        yield from _all_alike(batches, ErrorCode.NONE, None)
    elif isinstance(answer, RequestTimedOutError):
        yield from _all_alike(batches, ErrorCode.REQUEST_TIMED_OUT, answer)
    elif isinstance(answer, UnsupportedVersionError | UnencodableError):
        yield from _all_alike(batches, ErrorCode.UNSUPPORTED_VERSION, answer)
    elif isinstance(answer, ProduceResponse):
        told = {
            TopicPartition(topic.name, one.index): one
            for topic in answer.responses
            for one in topic.partition_responses
        }
        silent = [batch for batch in batches if batch.place not in told]
        for batch in batches:
            if batch.place in told:
                one = told[batch.place]
                yield Result(batch, ErrorCode.of_peer(one.error_code), one)
        yield from _all_alike(silent, ErrorCode.NETWORK_EXCEPTION, None)
    else:
        error = answer if isinstance(answer, ClientError) else None
        yield from _all_alike(batches, ErrorCode.NETWORK_EXCEPTION, error)


def _all_alike(
    batches: Iterable[ProducerBatch], code: ErrorCode, error: ClientError | None
) -> Iterator[Result]:
    for batch in batches:
        message = str(error) if error else "the broker says nothing of it"
        answer = PartitionProduceResponse(
            index=batch.place.partition,
            error_code=code,
            base_offset=UNKNOWN_OFFSET,
            error_message=message,
        )
        yield Result(batch, code, answer)


def new_leaders(told: Iterable[Result]) -> dict[TopicPartition, tuple[int, int]]:
    """The new leaders' node ids and epochs."""
    return moved_leaders((one.batch.place, one.code, one.answer.current_leader) for one in told)


def nodes_of(answer: Answer) -> list[Node]:
    return nodes_at(answer.node_endpoints) if isinstance(answer, ProduceResponse) else []
