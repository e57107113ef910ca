"""One assigned partition: its position and its stage (SubscriptionState.TopicPartitionState).

Initializing ──▶ Fetching ◀──▶ AwaitValidation
     │            ▲    │              │
     └──▶ AwaitReset ◀─┴──────────────┘
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from logquake.client.consumer.position import FetchPosition, LeaderAndEpoch
from logquake.client.consumer.settings import OffsetReset
from logquake.client.isolation import Isolation
from logquake.wire.sentinels import NO_LEADER


@dataclass(frozen=True, slots=True)
class Initializing:
    """The starting position is not known yet: the committed offset has to be fetched."""


@dataclass(frozen=True, slots=True)
class Fetching:
    position: FetchPosition


@dataclass(frozen=True, slots=True)
class AwaitReset:
    """ListOffsets has to find the log's beginning or end, but not before `retry_at_ms`."""

    policy: OffsetReset
    retry_at_ms: int = 0


@dataclass(frozen=True, slots=True)
class AwaitValidation:
    """The leader changed: OffsetForLeaderEpoch has to check its log against what was read."""

    position: FetchPosition
    retry_at_ms: int = 0


FetchState = Initializing | Fetching | AwaitReset | AwaitValidation


class _NearerReplica(NamedTuple):
    node_id: int
    until_ms: int


class PartitionState:
    """Offsets of the log are those of the last response; None before the first."""

    def __init__(self) -> None:
        self.fetch_state: FetchState = Initializing()
        # While the program loops over a poll's records one by one: the first that it has not
        # got yet. The position is past all of them.
        self.unseen: int | None = None
        self._handed_out = -1  # all records before it were
        self.high_watermark: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None
        self.is_paused = False  # by the program
        self.is_being_revoked = False
        self.awaits_callback = False  # the program has not been told of the assignment yet
        self._nearer: _NearerReplica | None = None
        self._left_alone_until_ms = 0

    @property
    def position(self) -> FetchPosition | None:
        """Validated or not."""
        match self.fetch_state:
            case Fetching(position) | AwaitValidation(position):
                return position
        return None

    @property
    def valid_position(self) -> FetchPosition | None:
        return self.fetch_state.position if isinstance(self.fetch_state, Fetching) else None

    @property
    def seen(self) -> FetchPosition | None:
        """The valid position, counting only records that the program has got."""
        return self._as_seen(self.valid_position)

    def _as_seen(self, position: FetchPosition | None) -> FetchPosition | None:
        unseen = self.unseen  # a loop on another thread takes the next record without the lock
        if position is None or unseen is None:
            return position
        return self._back_from(position, unseen)

    @property
    def is_fetchable(self) -> bool:
        held_back = self.is_paused or self.is_being_revoked or self.awaits_callback
        return not held_back and isinstance(self.fetch_state, Fetching)

    def may_be_fetched(self, now_ms: int) -> bool:
        return self._left_alone_until_ms <= now_ms and self.is_fetchable

    def leave_alone(self, until_ms: int) -> None:
        """Back off, since the leader refuses and would do so again. The partition is not fetched
        until then, unless its leader or position changes.
        """
        self._left_alone_until_ms = until_ms

    def fetched_again_ms(self, now_ms: int) -> int | None:
        """When the back-off ends, if there is one."""
        has_to_wait = self.is_fetchable and self._left_alone_until_ms > now_ms
        return self._left_alone_until_ms if has_to_wait else None

    def seek(self, position: FetchPosition, *, validate: bool = False) -> None:
        """With `validate` the leader is asked first, if both epochs are known."""
        self._left_alone_until_ms = 0
        if validate and position.can_be_validated:
            self.fetch_state = AwaitValidation(position)
        else:
            self.fetch_state = Fetching(position)

    def give_back(self) -> None:
        """Have the records that the program has not got yet read again."""
        if self.unseen is not None:
            self.go_back(self.unseen)
        self.unseen = None

    def go_back(self, offset: int) -> None:
        """Move the position, if there is one, back to a record that was handed out."""
        if (position := self.position) is not None:
            is_in_doubt = self.valid_position is None  # a new leader, since it was read
            self.seek(self._back_from(position, offset), validate=is_in_doubt)

    def _back_from(self, position: FetchPosition, offset: int) -> FetchPosition:
        """The position may have moved after the records were handed out. If a new leader's log
        diverges earlier (KIP-320), the divergence is not skipped; a reset forward stays.
        """
        if position.offset > self._handed_out:
            return position
        return position._replace(offset=min(offset, position.offset))

    def take_back(self, before: FetchPosition) -> None:
        """Have records after ``before`` read again, since the program got none of them."""
        self.go_back(before.offset)
        self.unseen = None

    def reset(self, policy: OffsetReset) -> None:
        self.fetch_state = AwaitReset(policy)

    def retry_at(self, now_ms: int) -> None:
        """Back off after the request that its state needs has failed."""
        if isinstance(self.fetch_state, AwaitReset | AwaitValidation):
            self.fetch_state = replace(self.fetch_state, retry_at_ms=now_ms)

    def follow(self, leader: LeaderAndEpoch, *, can_validate: bool) -> None:
        """Note the partition's leader, which may be the same as before.

        A leader that does not support OffsetForLeaderEpoch with epochs is trusted.
        """
        position = self.position
        if position is None or leader.node_id == NO_LEADER:
            return
        if position.leader != leader:
            self._left_alone_until_ms = 0  # this one has refused nothing yet
        if not can_validate:
            self.fetch_state = Fetching(position._replace(leader=leader))
        elif position.leader != leader:
            self.seek(position._replace(leader=leader), validate=True)
            self._nearer = None

    def advance(self, offset: int, epoch: int) -> None:
        """Records before `offset` were handed out. Only in the stage Fetching."""
        position = self.valid_position
        if position is None:
            raise ValueError("it has no valid position to go on from")
        self._handed_out = offset  # first, so that no interrupt can leave the position past it
        self.fetch_state = Fetching(FetchPosition(offset, epoch, position.leader))

    def end_offset(self, isolation: Isolation) -> int | None:
        """The offset after the last readable record, if known."""
        committed = isolation is Isolation.READ_COMMITTED
        return self.last_stable_offset if committed else self.high_watermark

    def lag(self, isolation: Isolation) -> int | None:
        """The number of offsets between the position and `end_offset`."""
        end, position = self.end_offset(isolation), self._as_seen(self.position)
        return None if end is None or position is None else end - position.offset

    def metrics(self, isolation: Isolation) -> dict[str, float]:
        """Known values, under Kafka's names; the replica is -1 if none is preferred."""
        told: dict[str, float] = {
            "preferred-read-replica": -1 if self._nearer is None else self._nearer.node_id
        }
        if (lag := self.lag(isolation)) is not None:
            told["records-lag"] = lag
        if self.position is not None and self.log_start_offset is not None:
            told["records-lead"] = self.position.offset - self.log_start_offset
        return told

    # KIP-392

    def prefer_replica(self, node_id: int, until_ms: int) -> None:
        """If it is preferred already, its time is not extended."""
        if self._nearer is None or self._nearer.node_id != node_id:
            self._nearer = _NearerReplica(node_id, until_ms)

    def preferred_replica(self, now_ms: int) -> int | None:
        """A replica nearer than the leader; once its time is up, the leader is asked again."""
        if self._nearer is not None and now_ms > self._nearer.until_ms:
            self._nearer = None
        return None if self._nearer is None else self._nearer.node_id

    def forget_replica(self) -> int | None:
        """Read from the leader again. Returns the replica that was preferred."""
        nearer, self._nearer = self._nearer, None
        return None if nearer is None else nearer.node_id
