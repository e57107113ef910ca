"""AlterPartition (56): leaders propose new ISRs (KafkaController.tryProcessAlterPartition).

All proposals of a request are judged, the accepted ones written side by side, the leader answered,
then every broker is told by UpdateMetadata; LeaderAndIsr is not sent, as the leader epoch stays.
Topics are named by id since version 2, by name before.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.events.state_written import state_written
from logquake.controller.journal_events import (
    ISR_CHANGE_REFUSED,
    ISR_EXPANDED,
    ISR_SHRUNK,
    LEADER_RECOVERED,
)
from logquake.controller.rules.isr_change import (
    Accepted,
    AlreadySo,
    Proposal,
    Refused,
    Verdict,
    judge,
)
from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery, Leadership
from logquake.controller.term import Term
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID

Results = dict[TopicPartition, LeaderAndIsr | Refused]


async def alter_partition(
    term: Term, request: AlterPartitionRequest, reply: Callable[[AlterPartitionResponse], None]
) -> None:
    """Raises ControllerMoved, ZkFailure."""
    broker = term.context.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        reply(AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    if not _recovery_states_are_known(request):
        reply(AlterPartitionResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    proposals = _proposals(term, request)
    results = await _decide(term, proposals)
    reply(_response(term, request, results))
    if proposals:
        await term.inform_all(proposal.partition for proposal in proposals)
    for partition in _overtaken(results):
        await state_written(term, partition)  # else its leader would wait for news for ever


def _proposals(term: Term, request: AlterPartitionRequest) -> list[Proposal]:
    """Of the topics that are known."""
    return [
        Proposal(
            TopicPartition(name, each.partition_index),
            LeaderAndIsr(
                request.broker_id,
                each.leader_epoch,
                _isr(each),
                each.partition_epoch,
                LeaderRecovery(each.leader_recovery_state),
            ),
            {member.broker_id: member.broker_epoch for member in each.new_isr_with_epochs},
        )
        for topic in request.topics
        if (name := _name(term, topic)) is not None
        for each in topic.partitions
    ]


def _recovery_states_are_known(request: AlterPartitionRequest) -> bool:
    known = set(LeaderRecovery)
    return all(p.leader_recovery_state in known for t in request.topics for p in t.partitions)


def _name(term: Term, topic: AlterPartitionRequestTopicData) -> str | None:
    if topic.topic_id == ZERO_UUID:
        return topic.topic_name
    return term.context.topic_name(topic.topic_id)


def _isr(partition: AlterPartitionRequestPartitionData) -> tuple[int, ...]:
    with_epochs = tuple(member.broker_id for member in partition.new_isr_with_epochs)
    return with_epochs or tuple(partition.new_isr)


async def _decide(term: Term, proposals: list[Proposal]) -> Results:
    verdicts = {proposal.partition: _judge(term, proposal) for proposal in proposals}
    accepted = {each: v.state for each, v in verdicts.items() if isinstance(v, Accepted)}
    written = await term.zk.write_states(accepted)
    results: Results = {}
    for partition, verdict in verdicts.items():
        if partition in written.done:
            results[partition] = _take_in(term, partition, written.done[partition])
        elif isinstance(verdict, AlreadySo):
            results[partition] = verdict.state
        else:
            refused = (
                verdict
                if isinstance(verdict, Refused)
                else _not_written(partition in written.missing)
            )
            results[partition] = refused
            _note_refused(term, partition, refused)
    return results


def _overtaken(results: Results) -> list[TopicPartition]:
    """Those whose state another has written, under the leader epoch that their leader knows."""
    return [
        partition
        for partition, result in results.items()
        if isinstance(result, Refused) and result.code is ErrorCode.INVALID_UPDATE_VERSION
    ]


def _judge(term: Term, proposal: Proposal) -> Verdict:
    context = term.context
    known = context.leaderships.get(proposal.partition)
    return judge(
        proposal,
        known.state if known else None,
        context.assignment(proposal.partition).replicas,
        {broker_id: context.brokers[broker_id].epoch for broker_id in context.active_broker_ids},
    )


def _take_in(term: Term, partition: TopicPartition, after: LeaderAndIsr) -> LeaderAndIsr:
    before = term.context.leaderships[partition].state
    term.context.take_in(partition, Leadership(after, term.zk.epoch))
    joined = sorted(set(after.isr) - set(before.isr))
    left = sorted(set(before.isr) - set(after.isr))
    why = f"leader {after.leader} proposed it: {joined} joined, {left} left"
    what = ISR_EXPANDED if joined else ISR_SHRUNK if left else LEADER_RECOVERED
    term.note_change(what, partition, why, before, after)
    return after


def _not_written(missing: bool) -> Refused:
    if missing:
        return Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "its znode is gone")
    return Refused(ErrorCode.INVALID_UPDATE_VERSION, "its znode was written by another")


def _note_refused(term: Term, partition: TopicPartition, refused: Refused) -> None:
    known = term.context.leaderships.get(partition)
    why = f"{refused.code.name}: {refused.why}"
    term.note_change(ISR_CHANGE_REFUSED, partition, why, known.state if known else None, None)


def _response(
    term: Term, request: AlterPartitionRequest, results: Results
) -> AlterPartitionResponse:
    return AlterPartitionResponse(
        topics=[
            AlterPartitionResponseTopicData(
                topic_name=topic.topic_name,
                topic_id=topic.topic_id,
                partitions=[
                    _partition_response(_name(term, topic), each.partition_index, results)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _partition_response(
    topic: str | None, index: int, results: Results
) -> AlterPartitionResponsePartitionData:
    if topic is None:
        return AlterPartitionResponsePartitionData(
            partition_index=index, error_code=ErrorCode.UNKNOWN_TOPIC_ID
        )
    result = results[TopicPartition(topic, index)]
    if isinstance(result, Refused):
        return AlterPartitionResponsePartitionData(partition_index=index, error_code=result.code)
    return AlterPartitionResponsePartitionData(
        partition_index=index,
        leader_id=result.leader,
        leader_epoch=result.leader_epoch,
        isr=list(result.isr),
        leader_recovery_state=result.recovery,
        partition_epoch=result.partition_epoch,
    )
