"""The states that partitions and replicas move through, and the moves that are legal.

The tables are Kafka's (PartitionStateMachine, ReplicaStateMachine). A move that is not in them is
not made: it is reported, and the partition or replica stays where it was.
"""

from __future__ import annotations

from enum import Enum


class PartitionStatus(Enum):
    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"  # assigned, no leader yet
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"  # had a leader, has none


class ReplicaStatus(Enum):
    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"  # its broker is gone, or answered an error


_P = PartitionStatus
_R = ReplicaStatus

_PARTITION_COMES_FROM = {
    _P.NEW: {_P.NON_EXISTENT},
    _P.ONLINE: {_P.NEW, _P.ONLINE, _P.OFFLINE},
    _P.OFFLINE: {_P.NEW, _P.ONLINE, _P.OFFLINE},
    _P.NON_EXISTENT: {_P.OFFLINE},
}

_LIVING = {_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}

_REPLICA_COMES_FROM = {
    _R.NEW: {_R.NON_EXISTENT},
    _R.ONLINE: _LIVING,
    _R.OFFLINE: _LIVING,
    _R.DELETION_STARTED: {_R.OFFLINE},
    _R.DELETION_SUCCESSFUL: {_R.DELETION_STARTED},
    _R.DELETION_INELIGIBLE: {_R.OFFLINE, _R.DELETION_STARTED},
    _R.NON_EXISTENT: {_R.DELETION_SUCCESSFUL},
}


def partition_may_move(source: PartitionStatus, target: PartitionStatus) -> bool:
    return source in _PARTITION_COMES_FROM[target]


def replica_may_move(source: ReplicaStatus, target: ReplicaStatus) -> bool:
    return source in _REPLICA_COMES_FROM[target]
