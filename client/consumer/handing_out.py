"""What happens to fetched records before a program gets them: they are deserialized, intercepted,
and accompanied by the next offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from logquake.client.consumer.deserializing import Deserializers, Made
from logquake.client.consumer.fetch.collecting import Fetched
from logquake.client.consumer.interceptors import Interceptors
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Call, Steps
from logquake.wire.topic_partition import TopicPartition

_Of = Mapping[TopicPartition, Sequence[ConsumerRecord]]


class HandingOut:
    def __init__(
        self,
        subscriptions: Subscriptions,
        deserializers: Deserializers,
        interceptors: Interceptors,
    ) -> None:
        self._subscriptions = subscriptions
        self._deserializers = deserializers
        self._interceptors = interceptors

    @property
    def calls_programs_own(self) -> bool:
        return self._deserializers.any or self._interceptors.any

    def steps(self, fetched: Fetched[ConsumerRecord]) -> Steps[ConsumerRecords]:
        """The positions have moved already: if Ctrl-C or a sys.exit(), say, cuts the call short,
        they move back.
        """
        of: _Of = fetched.records
        try:
            made = yield from self._deserialized(of)
            records = self.at_once(made.records)
            if self._interceptors.any:
                records = yield Call(partial(self._interceptors.on_consume, records))
        except BaseException:
            for place, lost in of.items():
                self._go_back(place, lost[0].offset)
            raise
        return records

    def _deserialized(self, of: _Of) -> Steps[Made]:
        """Records that cannot be deserialized are not skipped. If one is the first of its
        partition, its error is raised whatever else was read: while other partitions make progress,
        the program would otherwise never learn that this one is stuck.
        """
        if not self._deserializers.any:
            return Made(of, {})
        made: Made = yield Call(partial(self._deserializers.of, of))
        for place, error in made.failed.items():
            if place not in made.records:
                raise error
            self._go_back(place, error.offset)
        return made

    def at_once(self, of: _Of) -> ConsumerRecords:
        """For consumers without deserializers or interceptors of the program's."""
        next_offsets = {place: self._next_offset(place, records) for place, records in of.items()}
        return ConsumerRecords(of, next_offsets)

    def close(self) -> Steps[None]:
        yield Call(self._interceptors.close)
        yield Call(self._deserializers.close)

    def _go_back(self, place: TopicPartition, offset: int) -> None:
        state = self._subscriptions.find(place)
        if state is not None:
            state.go_back(offset)

    def _next_offset(
        self, place: TopicPartition, records: Sequence[ConsumerRecord]
    ) -> OffsetAndMetadata:
        state = self._subscriptions.find(place)
        position = state.position if state is not None else None
        if position is not None:
            return OffsetAndMetadata(position.offset, position.epoch)
        return OffsetAndMetadata(records[-1].offset + 1, records[-1].leader_epoch)
