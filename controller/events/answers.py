"""Brokers answered the controller's requests.

LeaderAndIsr tells which replicas are on an offline log directory; StopReplica tells which replicas
of a topic that is being deleted are gone; an error of a whole request is recorded, and one that
speaks of a newer controller makes this one look who it is.
"""

from __future__ import annotations

from logquake.controller import topic_deletion
from logquake.controller.events.replicas_offline import replicas_offline
from logquake.controller.partitions import Replica, TopicPartition
from logquake.controller.request_batch import Outgoing
from logquake.controller.term import Term, TermProcedure
from logquake.wire.errors import ErrorCode, error_name
from logquake.wire.messages.leader_and_isr import LeaderAndIsrResponse
from logquake.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from logquake.wire.messages.update_metadata import UpdateMetadataResponse
from logquake.wire.schema import Message


def error_of(answer: Message) -> int:
    """The error code of the whole request, which need not be known here."""
    if isinstance(answer, LeaderAndIsrResponse | UpdateMetadataResponse | StopReplicaResponse):
        return answer.error_code
    return ErrorCode.UNKNOWN_SERVER_ERROR


def note_refusal(term: Term, outgoing: Outgoing, code: int) -> None:
    term.note(
        "request-refused",
        f"broker-{outgoing.broker_id}",
        f"it answered {type(outgoing.request).__name__} with {error_name(code)}",
    )


def event_for_answer(outgoing: Outgoing, answer: Message) -> tuple[str, TermProcedure] | None:
    """Name and procedure of what follows from an answer; None if nothing does."""
    broker_id, request = outgoing.broker_id, outgoing.request
    if isinstance(answer, LeaderAndIsrResponse):
        return (
            "leader-and-isr-answered",
            lambda term: leader_and_isr_answered(term, broker_id, answer),
        )
    if isinstance(answer, StopReplicaResponse) and isinstance(request, StopReplicaRequest):
        return (
            "stop-replica-answered",
            lambda term: stop_replica_answered(term, broker_id, request, answer),
        )
    return None


async def leader_and_isr_answered(term: Term, broker_id: int, answer: LeaderAndIsrResponse) -> None:
    """Raises ControllerMoved, ZkFailure."""
    if answer.error_code != ErrorCode.NONE:
        return
    errors = _errors_by_partition(term, answer)
    before = term.context.failed_replicas.get(broker_id, set())
    online = {each for each, code in errors.items() if code == ErrorCode.NONE}
    failed = {each for each, code in errors.items() if code == ErrorCode.KAFKA_STORAGE_ERROR}
    now = (before - online) | failed
    term.context.failed_replicas[broker_id] = now
    newly_failed = sorted(now - before)
    if newly_failed:
        why = f"broker {broker_id} has them on an offline log directory"
        replicas = [Replica(partition, broker_id) for partition in newly_failed]
        term.note("replicas-offline", f"broker-{broker_id}", why, after=[*map(str, newly_failed)])
        await replicas_offline(term, replicas, why)


def _errors_by_partition(term: Term, answer: LeaderAndIsrResponse) -> dict[TopicPartition, int]:
    errors = {}
    for topic in answer.topics:
        name = term.context.topic_name(topic.topic_id)
        for each in topic.partition_errors if name is not None else ():
            errors[TopicPartition(str(name), each.partition_index)] = each.error_code
    return errors


async def stop_replica_answered(
    term: Term, broker_id: int, request: StopReplicaRequest, answer: StopReplicaResponse
) -> None:
    """Only replicas that were to be deleted, of topics under deletion, matter.

    Raises ControllerMoved, ZkFailure.
    """
    asked = _deletions(request)
    outcomes = {
        TopicPartition(each.topic_name, each.partition_index): each.error_code
        for each in answer.partition_errors
        if each.topic_name in term.context.deletions_started
    }
    refused = answer.error_code != ErrorCode.NONE
    failed = [
        Replica(each, broker_id)
        for each, code in sorted(outcomes.items())
        if each in asked and (refused or code != ErrorCode.NONE)
    ]
    deleted = [
        Replica(each, broker_id)
        for each, code in sorted(outcomes.items())
        if each in asked and not refused and code == ErrorCode.NONE
    ]
    if failed:
        why = f"broker {broker_id} could not delete its replicas"
        await topic_deletion.replicas_not_deleted(term, failed, why)
    if deleted:
        await topic_deletion.replicas_deleted(term, deleted)


def _deletions(request: StopReplicaRequest) -> set[TopicPartition]:
    return {
        TopicPartition(topic.topic_name, state.partition_index)
        for topic in request.topic_states
        for state in topic.partition_states
        if state.delete_partition
    }
