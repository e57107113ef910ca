"""WriteTxnMarkers as the coordinator sends it, and what becomes of each marker by its answer
(Kafka's TransactionMarkerRequestCompletionHandler).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from logquake.node.coordinators.term import Term
from logquake.node.coordinators.transactions.metadata import Transaction
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.node.coordinators.transactions.states import Partitions, PrepareCommit, by_topic
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from logquake.wire.topic_partition import TopicPartition

_MARKED = frozenset(
    {
        ErrorCode.NONE,
        # The log holds message sets alone, so no record of the transaction either.
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
_FENCED = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """A transaction that is decided in the log; its markers are to be written in this term.

    ``on_marked`` is called once, when none of its partitions lacks one.
    """

    term: Term[PartitionState]
    transaction: Transaction
    on_marked: Callable[[], None]

    @property
    def holds(self) -> bool:
        """A later term decides for itself who gets markers, and with which coordinator epoch."""
        return self.term.is_current

    def marker(self, partitions: Partitions) -> WritableTxnMarker:
        producer, state = self.transaction.producer, self.transaction.state
        return WritableTxnMarker(
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            transaction_result=isinstance(state, PrepareCommit),
            topics=[
                WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                for name, indexes in by_topic(partitions).items()
            ],
            coordinator_epoch=self.term.epoch,
        )


Markers = dict[Decision, Partitions]


def markers_request(markers: Markers) -> WriteTxnMarkersRequest:
    return WriteTxnMarkersRequest(
        markers=[decision.marker(partitions) for decision, partitions in markers.items()]
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the markers of one transaction.

    ``fenced`` knows a later coordinator, or a later epoch of the producer: nobody may go on.
    ``failed`` is to be tried again.
    """

    marked: Partitions
    fenced: Partitions
    failed: Partitions


def outcome(partitions: Partitions, errors: Mapping[TopicPartition, ErrorCode | None]) -> Outcome:
    """A partition that is not in the answer has no marker; a code that Kafka does not expect here,
    and stops at, is one more reason to try again.
    """
    marked = frozenset(each for each in partitions if errors.get(each) in _MARKED)
    fenced = frozenset(each for each in partitions if errors.get(each) in _FENCED)
    return Outcome(marked, fenced, partitions - marked - fenced)


def errors_by_producer(
    response: WriteTxnMarkersResponse,
) -> dict[int, dict[TopicPartition, ErrorCode | None]]:
    """None for a code that Kafka 3.9 does not have."""
    found: dict[int, dict[TopicPartition, ErrorCode | None]] = {}
    for marker in response.markers:
        errors = found.setdefault(marker.producer_id, {})
        for topic in marker.topics:
            for each in topic.partitions:
                errors[TopicPartition(topic.name, each.partition_index)] = _code(each.error_code)
    return found


def _code(number: int) -> ErrorCode | None:
    try:
        return ErrorCode(number)
    except ValueError:
        return None
