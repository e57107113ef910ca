"""Asking the controller to change ISRs: Kafka's AlterPartitionManager (KIP-497), version 3.

One request is in flight at a time. It carries the proposals that are pending at that moment, so a
burst of expansions after a broker's return is a few requests. (In Kafka it is one of all; thousands
would hold up the controller, and the leader whose ISRs then change at once.) A proposal is kept
until the controller answers for its partition, over lost connections and controller changes: a
repeated one is harmless, its partition epoch lets it be applied once only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from logquake.node.controller_link import ControllerRequests
from logquake.seams.scheduler import Scheduler
from logquake.storage.invariants import asserted_after, must_hold
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    BrokerState,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

API_VERSION = 3
AT_A_TIME = 500  # partitions in a request


@dataclass(frozen=True, slots=True)
class IsrMember:
    broker_id: int
    broker_epoch: int  # of its registration, as its fetches said, or UNKNOWN_BROKER_EPOCH


@dataclass(frozen=True, slots=True)
class NewIsr:
    """The ISR that the controller committed, or had committed before."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


IsrOutcome = NewIsr | int  # else the error code, which need not be known here


@dataclass(frozen=True, slots=True)
class IsrProposal:
    """An ISR that a leader wants; ``done`` is called once with what became of it."""

    topic: str
    partition: int
    topic_id: bytes
    leader_epoch: int
    partition_epoch: int
    isr: tuple[IsrMember, ...]
    done: Callable[[IsrOutcome], None]


@asserted_after("submit", "_on_response")
class AlterPartitionManager:
    """ISR changes that leaders propose, those that are pending in one request.

    Invariants:
    - What waits for an answer is on its way: in the request in flight, or sent after it or after
      the pause.
    - A partition has one proposal at most, under its own name.
    """

    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        controller: ControllerRequests,
        scheduler: Scheduler,
        *,
        retry_ms: int,
    ) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._controller = controller
        self._scheduler = scheduler
        self._retry_ms = retry_ms
        self._pending: dict[TopicPartition, IsrProposal] = {}
        self._sent: list[IsrProposal] = []
        self._busy = False  # a request is in flight, or a retry is scheduled

    def check_invariants(self) -> None:
        """Raises InvariantError; called where invariants are asserted (storage/invariants.py)."""
        must_hold(self._busy or not self._pending, "what waits is on its way", *self._pending)
        for key, proposal in self._pending.items():
            must_hold(key == (proposal.topic, proposal.partition), "its own name", key, proposal)

    def submit(self, proposal: IsrProposal) -> None:
        """Queue a proposal and send it as soon as may be.

        An older one of the same partition that is not settled keeps its place: the new one is
        answered OPERATION_NOT_ATTEMPTED.
        """
        key = _key(proposal)
        if key in self._pending:
            proposal.done(ErrorCode.OPERATION_NOT_ATTEMPTED)
            return
        self._pending[key] = proposal
        self._send_if_idle()

    def _send_if_idle(self) -> None:
        if self._busy or not self._pending:
            return
        self._busy = True
        self._controller.ask(self._request, API_VERSION, self._on_response)

    def _on_response(self, response: Message) -> None:
        if not isinstance(response, AlterPartitionResponse) or response.error_code:
            self._retry_later()
            return
        outcomes = _outcomes(response)
        answered = [p for p in self._sent if (p.topic_id, p.partition) in outcomes]
        for proposal in self._sent:
            del self._pending[_key(proposal)]
            if (proposal.topic_id, proposal.partition) not in outcomes:
                self._pending[_key(proposal)] = proposal  # behind the others
        for proposal in answered:
            proposal.done(outcomes[proposal.topic_id, proposal.partition])
        if len(answered) < len(self._sent):
            self._retry_later()
        else:
            self._busy = False
            self._send_if_idle()

    def _retry_later(self) -> None:
        def retry() -> None:
            self._busy = False
            self._send_if_idle()

        self._scheduler.call_later(self._retry_ms, retry)

    def _request(self) -> AlterPartitionRequest:
        """With what is pending at the moment of each attempt."""
        self._sent = list(islice(self._pending.values(), AT_A_TIME))
        by_topic: dict[bytes, list[IsrProposal]] = {}
        for proposal in self._sent:
            by_topic.setdefault(proposal.topic_id, []).append(proposal)
        return AlterPartitionRequest(
            broker_id=self._broker_id,
            broker_epoch=self._broker_epoch(),
            topics=[_topic(topic_id, group) for topic_id, group in by_topic.items()],
        )


def _key(proposal: IsrProposal) -> TopicPartition:
    return TopicPartition(proposal.topic, proposal.partition)


def _topic(topic_id: bytes, proposals: Iterable[IsrProposal]) -> AlterPartitionRequestTopicData:
    return AlterPartitionRequestTopicData(
        topic_id=topic_id,
        partitions=[
            AlterPartitionRequestPartitionData(
                partition_index=proposal.partition,
                leader_epoch=proposal.leader_epoch,
                new_isr_with_epochs=[
                    BrokerState(broker_id=member.broker_id, broker_epoch=member.broker_epoch)
                    for member in proposal.isr
                ],
                partition_epoch=proposal.partition_epoch,
            )
            for proposal in proposals
        ],
    )


def _outcomes(response: AlterPartitionResponse) -> dict[tuple[bytes, int], IsrOutcome]:
    return {
        (topic.topic_id, partition.partition_index): _outcome(partition)
        for topic in response.topics
        for partition in topic.partitions
    }


def _outcome(partition: AlterPartitionResponsePartitionData) -> IsrOutcome:
    if partition.error_code != ErrorCode.NONE:
        return partition.error_code
    return NewIsr(partition.leader_epoch, partition.partition_epoch, tuple(partition.isr))
