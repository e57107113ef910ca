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
    """Nobody knows yet where to begin: what is committed has to be asked for."""


@dataclass(frozen=True, slots=True)
class Fetching:
    position: FetchPosition


@dataclass(frozen=True, slots=True)
class AwaitReset:
    """ListOffsets has to say where the log begins or ends; not to be asked before `retry_at_ms`."""

    policy: OffsetReset
    retry_at_ms: int = 0


@dataclass(frozen=True, slots=True)
class AwaitValidation:
    """The leader has changed: OffsetForLeaderEpoch has to say whether its log is what was read."""

    position: FetchPosition
    retry_at_ms: int = 0


FetchState = Initializing | Fetching | AwaitReset | AwaitValidation


class _NearerReplica(NamedTuple):
    node_id: int
    until_ms: int


class PartitionState:
    """What an answer told of the log stays until the next one; None before the first."""

    def __init__(self) -> None:
        self.fetch_state: FetchState = Initializing()
        # Of a poll's records the first that the program has not been given yet, where it goes
        # through them one by one; the position is behind all of them.
        self.unseen: int | None = None
        self._handed_out = -1  # what is before it
        self.high_watermark: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None
        self.is_paused = False  # by the program
        self.is_being_revoked = False
        self.awaits_callback = False  # the program has not heard yet that it is assigned
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
        """The valid position, as far as the program has been given what is before it."""
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
        return self.is_fetchable and self._left_alone_until_ms <= now_ms

    def leave_alone(self, until_ms: int) -> None:
        """Its leader refuses. It is not fetched until then, or until it has another leader, or
        position: the next refusal would come as soon.
        """
        self._left_alone_until_ms = until_ms

    def fetched_again_ms(self, now_ms: int) -> int | None:
        """When, if it has to wait."""
        has_to_wait = self.is_fetchable and self._left_alone_until_ms > now_ms
        return self._left_alone_until_ms if has_to_wait else None

    def seek(self, position: FetchPosition, *, validate: bool = False) -> None:
        """With `validate` the leader is asked first, where both epochs are known."""
        self._left_alone_until_ms = 0
        if validate and position.can_be_validated:
            self.fetch_state = AwaitValidation(position)
        else:
            self.fetch_state = Fetching(position)

    def give_back(self) -> None:
        """What the program has not been given yet is read again."""
        if self.unseen is not None:
            self.go_back(self.unseen)
        self.unseen = None

    def go_back(self, offset: int) -> None:
        """From the position, if there is one, to what was handed out and is not seen."""
        if (position := self.position) is not None:
            is_in_doubt = self.valid_position is None  # a new leader, since it was read
            self.seek(self._back_from(position, offset), validate=is_in_doubt)

    def _back_from(self, position: FetchPosition, offset: int) -> FetchPosition:
        """It may have moved since it was behind what was handed out: where a new leader's log parts
        from what was read (KIP-320), that is not passed over; where it was reset, it stays.
        """
        if position.offset > self._handed_out:
            return position
        return position._replace(offset=min(offset, position.offset))

    def take_back(self, before: FetchPosition) -> None:
        """What was read since is read again: the program was given none of it."""
        self.go_back(before.offset)
        self.unseen = None

    def reset(self, policy: OffsetReset) -> None:
        self.fetch_state = AwaitReset(policy)

    def retry_at(self, now_ms: int) -> None:
        """What was asked for its state failed."""
        if isinstance(self.fetch_state, AwaitReset | AwaitValidation):
            self.fetch_state = replace(self.fetch_state, retry_at_ms=now_ms)

    def follow(self, leader: LeaderAndEpoch, *, can_validate: bool) -> None:
        """The partition is led by `leader`, which may be who led it before.

        A leader that does not know OffsetForLeaderEpoch with epochs is believed.
        """
        position = self.position
        if position is None or leader.node_id == NO_LEADER:
            return
        if not can_validate:
            self.fetch_state = Fetching(position._replace(leader=leader))
        elif position.leader != leader:
            self.seek(position._replace(leader=leader), validate=True)
            self._nearer = None

    def advance(self, offset: int, epoch: int) -> None:
        """What is before `offset` was handed out; only of who is Fetching."""
        position = self.valid_position
        if position is None:
            raise ValueError("it has no valid position to go on from")
        self._handed_out = offset  # first: what cuts this off leaves no position behind it
        self.fetch_state = Fetching(FetchPosition(offset, epoch, position.leader))

    def end_offset(self, isolation: Isolation) -> int | None:
        """What follows the last record that may be read, as far as was told."""
        committed = isolation is Isolation.READ_COMMITTED
        return self.last_stable_offset if committed else self.high_watermark

    def lag(self, isolation: Isolation) -> int | None:
        """Records between the position and that."""
        end, position = self.end_offset(isolation), self._as_seen(self.position)
        return None if end is None or position is None else end - position.offset

    def metrics(self, isolation: Isolation) -> dict[str, float]:
        """Under Kafka's names, as far as was told; -1 for no nearer replica."""
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
        """It keeps its time if it is the one that is preferred already."""
        if self._nearer is None or self._nearer.node_id != node_id:
            self._nearer = _NearerReplica(node_id, until_ms)

    def preferred_replica(self, now_ms: int) -> int | None:
        """A nearer one than the leader; after its time the leader is asked again."""
        if self._nearer is not None and now_ms > self._nearer.until_ms:
            self._nearer = None
        return None if self._nearer is None else self._nearer.node_id

    def forget_replica(self) -> int | None:
        """Read from the leader; who was preferred."""
        nearer, self._nearer = self._nearer, None
        return None if nearer is None else nearer.node_id
