"""Whatever cuts off a poll, Ctrl-C say, wherever it does: what it took is read again, and nothing
is passed over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.wire.api import ApiKey
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.at_once import at_once
from tests.unit.client.cluster_in_memory import FakeTopology
from tests.unit.client.consumer.lone_consumer import LoneConsumer
from tests.unit.client.consumer.test_one_by_one import COUNT, FIRST, PATIENCE_MS, SECOND, reading
from tests.unit.client.cut_off import CutOffError, cut_off_after, every_step

PLACES = (FIRST, SECOND)
NEVER_MS = 0


class Reading:
    """A program that polls, and what it was given of each partition."""

    def __init__(self, most: int) -> None:
        self.lone: LoneConsumer = reading(*PLACES, max_poll_records=most)
        of_one_broker = FakeTopology({0: (1, 5), 1: (1, 7)})
        self.lone.network.handlers[ApiKey.METADATA] = of_one_broker.metadata
        self.given: defaultdict[TopicPartition, list[int]] = defaultdict(list)

    def hold(self, records: Iterable[ConsumerRecord]) -> None:
        for each in records:
            self.given[each.place].append(each.offset)

    def positions(self) -> list[int]:
        seeking = self.lone.consuming.seeking
        return [self.lone.call(seeking.position(place, PATIENCE_MS)) for place in PLACES]

    def poll(self) -> None:
        self.hold(self.lone.call(self.lone.consuming.poll(PATIENCE_MS, Taken())))

    def read_to_the_end(self) -> None:
        for _ in range(2 * COUNT):
            if sum(map(len, self.given.values())) < len(PLACES) * COUNT:
                self.poll()


def poll_as_facades_do(reading: Reading, *, at_hand: bool) -> ConsumerRecords:
    consuming, taken = reading.lone.consuming, Taken()
    try:
        found = consuming.at_hand(lambda: None, taken) if at_hand else None
        return at_once(consuming.poll(NEVER_MS, taken)) if found is None else found
    except BaseException:
        taken.give_back()
        raise


def poll_of_a_loop(reading: Reading) -> tuple[()]:
    """Its records are in the loop then."""
    at_once(reading.lone.consuming.poll_for_loop(NEVER_MS))
    return ()


@pytest.mark.parametrize(
    "poll",
    [
        partial(poll_as_facades_do, at_hand=True),
        partial(poll_as_facades_do, at_hand=False),
        poll_of_a_loop,
    ],
    ids=["at hand", "by steps", "of a loop"],
)
@pytest.mark.parametrize("most", [2, 3 * COUNT // 2])
def test_a_poll_that_is_cut_off_has_taken_nothing(
    most: int, poll: Callable[[Reading], Iterable[ConsumerRecord]]
) -> None:
    for steps in every_step():
        program = Reading(most)
        program.poll()
        before = program.positions()
        try:
            program.hold(cut_off_after(steps, partial(poll, program)))
        except CutOffError:
            assert program.positions() == before
            program.read_to_the_end()
            assert program.given == {place: list(range(COUNT)) for place in PLACES}
            continue
        assert steps > 50
        break
