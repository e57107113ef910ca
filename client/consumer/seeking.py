"""Setting and reading positions (KafkaConsumer's seek and others)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from logquake.client.arguments import check_offset, check_place, check_places
from logquake.client.consumer.calls import Calls
from logquake.client.consumer.cluster import leader_of, why_not_led
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.consumer.ungrouped import Ungrouped
from logquake.client.driving.steps import Steps
from logquake.client.errors import TimedOutError
from logquake.client.network.metadata import Metadata
from logquake.wire.topic_partition import TopicPartition


class Seeking:
    """All raise NotAssignedError for a partition that is not assigned."""

    def __init__(
        self,
        calls: Calls,
        subscriptions: Subscriptions,
        metadata: Metadata,
        group: Coordination | Ungrouped,
        trouble: Callable[[], str],
    ) -> None:
        """``trouble`` is that of `NetworkClient`."""
        self._calls = calls
        self._subscriptions = subscriptions
        self._metadata = metadata
        self._group = group
        self._trouble = trouble

    def seek(self, place: TopicPartition, to: int | OffsetAndMetadata) -> None:
        """With a leader epoch, the log is first checked for truncation (KIP-320).

        Raises ValueError for a negative offset, TypeError for something other than an offset.
        """
        wanted = OffsetAndMetadata(to) if isinstance(to, int) else to
        check_place(place)
        check_offset(wanted, "neither an offset nor an OffsetAndMetadata")
        with self._calls.one_at_a_time():
            state = self._subscriptions.of(place)
            self._metadata.saw_epoch(place, wanted.leader_epoch)
            leader = leader_of(self._metadata.snapshot, place)
            position = FetchPosition(wanted.offset, wanted.leader_epoch, leader)
            state.seek(position, validate=True)
            state.unseen = None

    def seek_to_beginning(self, places: Collection[TopicPartition]) -> None:
        """Of all assigned partitions by default. Lazy: the core looks the offsets up later."""
        self._reset(places, OffsetReset.EARLIEST)

    def seek_to_end(self, places: Collection[TopicPartition]) -> None:
        """Like `seek_to_beginning`. With read_committed, to the last stable offset."""
        self._reset(places, OffsetReset.LATEST)

    def _reset(self, places: Collection[TopicPartition], policy: OffsetReset) -> None:
        with self._calls.one_at_a_time():
            check_places(places)
            for state in [self._subscriptions.of(each) for each in places or self._assigned()]:
                state.reset(policy)
                state.unseen = None

    def position(self, place: TopicPartition, timeout_ms: int) -> Steps[int]:
        """The offset that the program gets next. Raises TimedOutError, or the ClientError of the
        lookup.
        """
        with self._calls.one_at_a_time():
            check_place(place)
            state = self._subscriptions.of(place)
            if (known := state.seen) is not None:
                return known.offset
            deadline_ms = self._calls.now_ms() + timeout_ms
            self._group.check_positions()
            self._group.want_position(place)
            yield from self._calls.wait(
                lambda: state.valid_position is not None or self._group.lacks_positions,
                deadline_ms,
            )
            self._group.check_positions()
            position = state.seen
            if position is None:
                why = why_not_led(self._metadata.snapshot, place)
                because = f": {why}" if why is not None else ""
                trouble = self._trouble()
                raise TimedOutError(f"no position of {place} in {timeout_ms} ms{because}{trouble}")
            return position.offset

    def pause(self, places: Collection[TopicPartition]) -> None:
        """Neither fetch nor return their records until `resume`; they stay assigned."""
        self._set_paused(places, to=True)

    def resume(self, places: Collection[TopicPartition]) -> None:
        self._set_paused(places, to=False)

    def _set_paused(self, places: Collection[TopicPartition], *, to: bool) -> None:
        with self._calls.one_at_a_time():
            check_places(places)
            for state in [self._subscriptions.of(each) for each in places]:
                state.is_paused = to
                if to:
                    state.give_back()

    def paused(self) -> set[TopicPartition]:
        return {each for each in self._assigned() if self._subscriptions.of(each).is_paused}

    def _assigned(self) -> list[TopicPartition]:
        return list(self._subscriptions.assigned)
