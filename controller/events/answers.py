"""Brokers answered the controller's requests.

LeaderAndIsr tells which replicas are on an offline log directory; StopReplica tells which replicas
of a topic that is being deleted are gone; an error of a whole request is recorded, and one that
speaks of a newer controller makes this one look who it is.

What StopReplica tells is taken note of before the broker's next coming or going, as it was said
before: a replica is not deleted because it had been, in an earlier life of its broker. What the
deletion does then is long work, and an event by itself.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial

from logquake.controller.channels.request_batch import Outgoing
from logquake.controller.events.brokers_changed import on_replicas_become_offline
from logquake.controller.journal_events import REPLICAS_OFFLINE, REQUEST_REFUSED
from logquake.controller.rules.partitions import Replica
from logquake.controller.state_machines import topic_deletion_manager
from logquake.controller.term import Term, TermProcedure
from logquake.wire.errors import ErrorCode, error_name
from logquake.wire.messages.leader_and_isr import LeaderAndIsrResponse
from logquake.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from logquake.wire.messages.update_metadata import UpdateMetadataResponse
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition


def error_of(answer: Message) -> int:
    """The error code of the whole request, which need not be known here."""
    if isinstance(answer, LeaderAndIsrResponse | UpdateMetadataResponse | StopReplicaResponse):
        return answer.error_code
    return ErrorCode.UNKNOWN_SERVER_ERROR


def note_refusal(term: Term, outgoing: Outgoing, code: int) -> None:
    term.note(
        REQUEST_REFUSED,
        f"broker-{outgoing.broker_id}",
        f"it answered {type(outgoing.request).__name__} with {error_name(code)}",
    )


def events_for_answer(outgoing: Outgoing, answer: Message) -> list[tuple[str, TermProcedure]]:
    """Names and procedures of what follows from an answer, in order."""
    broker_id, request = outgoing.broker_id, outgoing.request
    if isinstance(answer, LeaderAndIsrResponse):
        answered = partial(leader_and_isr_answered, broker_id=broker_id, answer=answer)
        return [("leader-and-isr-answered", answered)]
    if isinstance(answer, StopReplicaResponse) and isinstance(request, StopReplicaRequest):
        asked = _deletions(request)
        if asked:
            noted = partial(deletion_answered, broker_id=broker_id, asked=asked, answer=answer)
            topics = {partition.topic for partition in asked}
            return [
                ("deletion-answered", noted),
                (
                    "deletions-go-on",
                    lambda term: topic_deletion_manager.resume_deletions(term, topics),
                ),
            ]
    return []


async def leader_and_isr_answered(term: Term, broker_id: int, answer: LeaderAndIsrResponse) -> None:
    """Raises ControllerMoved, ZkFailure."""
    if answer.error_code != ErrorCode.NONE:
        return
    errors = _errors_by_partition(term, answer)
    before = term.context.replicas_on_offline_dirs.get(broker_id, set())
    online = {each for each, code in errors.items() if code == ErrorCode.NONE}
    failed = {each for each, code in errors.items() if code == ErrorCode.KAFKA_STORAGE_ERROR}
    now = (before - online) | failed
    term.context.replicas_on_offline_dirs[broker_id] = now
    newly_failed = sorted(now - before)
    if newly_failed:
        why = f"broker {broker_id} has them on an offline log directory"
        replicas = [Replica(partition, broker_id) for partition in newly_failed]
        term.note(REPLICAS_OFFLINE, f"broker-{broker_id}", why, after=[*map(str, newly_failed)])
        await on_replicas_become_offline(term, replicas, why)


def _errors_by_partition(term: Term, answer: LeaderAndIsrResponse) -> dict[TopicPartition, int]:
    errors = {}
    for topic in answer.topics:
        name = term.context.topic_name(topic.topic_id)
        for each in topic.partition_errors if name is not None else ():
            errors[TopicPartition(str(name), each.partition_index)] = each.error_code
    return errors


async def deletion_answered(
    term: Term, broker_id: int, asked: Set[TopicPartition], answer: StopReplicaResponse
) -> None:
    """Only replicas that were to be deleted, of topics under deletion, matter."""
    refused = answer.error_code != ErrorCode.NONE
    outcomes = {
        Replica(partition, broker_id): refused or each.error_code != ErrorCode.NONE
        for each in answer.partition_errors
        if (partition := TopicPartition(each.topic_name, each.partition_index)) in asked
        and each.topic_name in term.context.deletions_started
    }
    failed = sorted(replica for replica, has_failed in outcomes.items() if has_failed)
    deleted = sorted(replica for replica, has_failed in outcomes.items() if not has_failed)
    why = f"broker {broker_id} could not delete its replicas"
    topic_deletion_manager.fail_replica_deletion(term, failed, why)
    topic_deletion_manager.complete_replica_deletion(term, deleted)


def _deletions(request: StopReplicaRequest) -> set[TopicPartition]:
    return {
        TopicPartition(topic.topic_name, state.partition_index)
        for topic in request.topic_states
        for state in topic.partition_states
        if state.delete_partition
    }
