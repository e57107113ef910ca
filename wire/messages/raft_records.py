"""Control records of KRaft logs and snapshots.

A ZooKeeper-mode broker writes none; they are here to read a log that has them.
"""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    int16,
    int32,
    int64,
    string,
    struct,
    uint16,
    uuid,
)


class LeaderChangeMessageVoter(Struct):
    voter_id: int = int32()
    voter_directory_id: bytes = uuid("1+")


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    """Opens a leader's term in a KRaft log (KIP-595).

    1: directory ids of voters (KIP-853).
    """

    version: int = int16()
    leader_id: int = int32()
    voters: list[LeaderChangeMessageVoter] = array(LeaderChangeMessageVoter)
    granting_voters: list[LeaderChangeMessageVoter] = array(LeaderChangeMessageVoter)


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    """First record of a KRaft snapshot (KIP-630)."""

    version: int = int16()
    last_contained_log_timestamp: int = int64()


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    """Last record of a KRaft snapshot (KIP-630)."""

    version: int = int16()


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    """The KRaft protocol in force (KIP-853)."""

    version: int = int16()
    kraft_version: int = int16()


class Endpoint(Struct):
    name: str = string()
    host: str = string()
    port: int = uint16()


class KRaftVersionFeature(Struct):
    min_supported_version: int = int16()
    max_supported_version: int = int16()


class VotersRecordVoter(Struct):
    voter_id: int = int32()
    voter_directory_id: bytes = uuid()
    endpoints: list[Endpoint] = array(Endpoint)
    kraft_version_feature: KRaftVersionFeature = struct(KRaftVersionFeature)


class VotersRecord(Message, versions="0", flexible="0+"):
    """The voters of a KRaft quorum (KIP-853)."""

    version: int = int16()
    voters: list[VotersRecordVoter] = array(VotersRecordVoter)
