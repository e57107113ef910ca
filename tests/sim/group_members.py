"""Members of a simulated group: they join, are assigned partitions, read, commit, sleep and die.

A member's life is a chain of requests; each belongs to a turn, and what is answered after its turn
is over changes nothing. A turn ends when the member joins anew, or dies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from logquake.wire.records import iterate_batches
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.sim.clients import FETCH_BYTES, FETCH_VERSION, FETCH_WAIT_MS, Client
from tests.sim.group_history import NOTHING_COMMITTED, Commit, GroupHistory
from tests.sim.network import Fabric
from tests.sim.world import World

GROUP = "readers"
COORDINATED_BY = TopicPartition(GROUP_METADATA_TOPIC, 0)
SESSION_MS, REBALANCE_MS, HEARTBEAT_MS = 700, 800, 150
LONGEST_SLEEP_MS = 3 * SESSION_MS
JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION = 9, 4, 4
COMMIT_VERSION, OFFSET_FETCH_VERSION = 8, 7

Answer = Message | Disconnected
Note = Callable[[Iterator[str]], None]

_UNKNOWN_MEMBER = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
_STALE = (*_UNKNOWN_MEMBER, ErrorCode.ILLEGAL_GENERATION)


class GroupMember(Client):
    """``owned`` are the partitions that it reads, each with its next offset."""

    def __init__(
        self,
        name: str,
        partitions: tuple[TopicPartition, ...],
        fabric: Fabric,
        world: World,
        rng: Random,
        history: GroupHistory,
        note: Note,
    ) -> None:
        super().__init__(name, COORDINATED_BY, fabric, world, rng)
        self._readers = {
            partition: Client(f"{name}-{partition.partition}", partition, fabric, world, rng)
            for partition in partitions
        }
        self._partitions = partitions
        self._history = history
        self._note = note
        self._turn = 0
        self.member_id = ""
        self.generation = -1
        self.owned: dict[TopicPartition, int] = {}

    # Its life

    def start(self) -> None:
        self._begin_turn()
        self._join()

    def die(self) -> None:
        """It comes back as somebody else."""
        self.member_id = ""
        self._begin_turn()
        self.later(10, LONGEST_SLEEP_MS, self._in_turn(self._join))

    def sleep(self) -> None:
        """Once it owns something; longer, perhaps, than it may. Then it commits what it had read
        before, and goes on.
        """
        if not self.owned:
            self.later(20, 120, self.sleep)
            return
        generation, owned = self.generation, dict(self.owned)
        self._begin_turn()

        def wake() -> None:
            self._commit_as(generation, owned)
            self._join()

        self.later(SESSION_MS // 2, LONGEST_SLEEP_MS, self._in_turn(wake))

    def _begin_turn(self) -> None:
        self._turn += 1
        self.owned = {}

    def _in_turn(self, action: Callable[[], None]) -> Callable[[], None]:
        turn = self._turn
        return lambda: action() if self._turn == turn else None

    def _ask(
        self,
        request: Message,
        version: int,
        done: Callable[[Answer], None],
        broker: int | None = None,
    ) -> None:
        turn = self._turn
        self.ask(
            self.likely_leader() if broker is None else broker,
            request,
            version,
            lambda answer: done(answer) if self._turn == turn else None,
        )

    def _again(self, action: Callable[[], None]) -> None:
        self.later(20, 120, self._in_turn(action))

    # Joining

    def _join(self) -> None:
        self._begin_turn()
        self._send_join()

    def _send_join(self) -> None:
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="turns", metadata=self.name.encode())],
        )
        self._ask(request, JOIN_VERSION, self._on_join)

    def _on_join(self, answer: Answer) -> None:
        if isinstance(answer, Disconnected):
            self._again(self._send_join)
            return
        assert isinstance(answer, JoinGroupResponse)
        error = ErrorCode(answer.error_code)
        if error is ErrorCode.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            self._sync(answer)
            return
        if error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif error in _UNKNOWN_MEMBER:
            self.member_id = ""
        self._again(self._send_join)

    def _sync(self, joined: JoinGroupResponse) -> None:
        ids = sorted(each.member_id for each in joined.members)
        given: dict[str, list[str]] = {each: [] for each in ids}
        for index, partition in enumerate(self._partitions if ids else ()):
            given[ids[index % len(ids)]].append(str(partition.partition))
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=each, assignment=",".join(parts).encode())
                for each, parts in given.items()
            ],
        )
        self._ask(request, SYNC_VERSION, self._on_sync)

    def _on_sync(self, answer: Answer) -> None:
        if isinstance(answer, SyncGroupResponse) and not answer.error_code:
            indexes = [int(each) for each in answer.assignment.decode().split(",") if each]
            mine = frozenset(TopicPartition(self._partitions[0].topic, each) for each in indexes)
            self._note(self._history.assigned(self.member_id, self.generation, mine))
            self._beat()
            self._fetch_offsets(mine)
        else:
            self._lose_assignment(answer)

    def _lose_assignment(self, answer: Answer) -> None:
        """Join anew, as somebody new if nobody knows this one."""
        code = 0 if isinstance(answer, Disconnected) else getattr(answer, "error_code", 0)
        if code in _UNKNOWN_MEMBER:
            self.member_id = ""
        self._again(self._join)

    # Being alive

    def _beat(self) -> None:
        request = HeartbeatRequest(
            group_id=GROUP, generation_id=self.generation, member_id=self.member_id
        )
        self._ask(request, HEARTBEAT_VERSION, self._on_beat)

    def _on_beat(self, answer: Answer) -> None:
        error = answer.error_code if isinstance(answer, HeartbeatResponse) else 0
        if error in _STALE:
            self._begin_turn()
            self._lose_assignment(answer)
        elif error == ErrorCode.REBALANCE_IN_PROGRESS:
            if self.owned:
                self._commit_as(self.generation, dict(self.owned))
            self._join()
        else:
            self.later(HEARTBEAT_MS // 2, HEARTBEAT_MS, self._in_turn(self._beat))

    # Reading

    def _fetch_offsets(self, mine: frozenset[TopicPartition]) -> None:
        if not mine:
            return
        acked = {partition: self._history.last_acked(partition) for partition in mine}
        topic = OffsetFetchRequestTopic(
            name=self._partitions[0].topic,
            partition_indexes=sorted(partition.partition for partition in mine),
        )
        request = OffsetFetchRequest(group_id=GROUP, topics=[topic], require_stable=True)

        broker = self.likely_leader()
        epoch = self.leader_epoch_of(broker)

        def on_answer(answer: Answer) -> None:
            # A deposed coordinator that does not know it yet may tell what was, as Kafka's does.
            is_deposed = epoch is None or epoch != self.leader_epoch_of(broker)
            if is_deposed or not isinstance(answer, OffsetFetchResponse) or _has_error(answer):
                self._again(lambda: self._fetch_offsets(mine))
                return
            for told in answer.topics[0].partitions:
                partition = TopicPartition(answer.topics[0].name, told.partition_index)
                offset = told.committed_offset
                self._note(self._history.fetched(partition, offset, acked[partition]))
                self.owned[partition] = 0 if offset == NOTHING_COMMITTED else offset
                self._read(partition)
            self._commit()

        self._ask(request, OFFSET_FETCH_VERSION, on_answer, broker)

    def _read(self, partition: TopicPartition) -> None:
        reader, turn = self._readers[partition], self._turn
        wanted = FetchPartition(
            partition=partition.partition,
            fetch_offset=self.owned[partition],
            partition_max_bytes=FETCH_BYTES,
        )
        request = FetchRequest(
            max_wait_ms=FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=FETCH_BYTES,
            topics=[FetchTopic(topic=partition.topic, partitions=[wanted])],
        )

        def on_answer(answer: Answer) -> None:
            if self._turn != turn:
                return
            if isinstance(answer, FetchResponse) and answer.responses:
                data = answer.responses[0].partitions[0]
                if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    self._go_to_start(partition)
                elif not data.error_code and isinstance(data.records, memoryview):
                    self._take(partition, data.records)
            self._again(lambda: self._read(partition))

        reader.ask(reader.likely_leader(), request, FETCH_VERSION, on_answer)

    def _go_to_start(self, partition: TopicPartition) -> None:
        """Its records may be deleted; where the log starts is as good as asked here, unless more
        was asked than is committed: that is refused.
        """
        asked = min(self.world.asked_starts.get(partition, 0), self._end(partition))
        self.owned[partition] = max(self.owned[partition], asked)

    def _take(self, partition: TopicPartition, records: memoryview) -> None:
        for _, header in iterate_batches(records):
            position = self.owned[partition]
            if header.next_offset <= position:
                continue
            self._note(
                self._history.polled(
                    self.name, partition, position, header.base_offset, header.next_offset
                )
            )
            self.owned[partition] = header.next_offset

    # Committing

    def _commit(self) -> None:
        self._commit_as(self.generation, dict(self.owned))
        self.later(100, 300, self._in_turn(self._commit))

    def _commit_as(self, generation: int, offsets: dict[TopicPartition, int]) -> None:
        """What comes of it is noted whatever the member does meanwhile."""
        commit = self._history.commit_sent(self.member_id, generation, offsets)
        partitions = [
            OffsetCommitRequestPartition(
                partition_index=partition.partition, committed_offset=offset, committed_metadata=""
            )
            for partition, offset in sorted(offsets.items())
        ]
        topic = OffsetCommitRequestTopic(name=self._partitions[0].topic, partitions=partitions)
        request = OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=generation,
            member_id=self.member_id,
            topics=[topic],
        )
        self.ask(
            self.likely_leader(), request, COMMIT_VERSION, lambda answer: self._told(commit, answer)
        )

    def _told(self, commit: Commit, answer: Answer) -> None:
        if not isinstance(answer, OffsetCommitResponse):
            self._history.commit_abandoned(commit)
            return
        errors = {told.error_code for topic in answer.topics for told in topic.partitions}
        if errors == {ErrorCode.NONE}:
            ends = {each: self._end(each) for each in commit.offsets}
            self._note(self._history.commit_acked(commit, ends))
        elif errors & set(_STALE):
            self._history.commit_refused(commit)

    def _end(self, partition: TopicPartition) -> int:
        committed = self.world.committed.get(partition)
        return 0 if committed is None else committed.end


def _has_error(answer: OffsetFetchResponse) -> bool:
    return bool(answer.error_code) or any(
        told.error_code for topic in answer.topics for told in topic.partitions
    )
