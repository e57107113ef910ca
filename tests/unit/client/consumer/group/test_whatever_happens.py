"""Whatever a coordinator says and the network loses: what a listener hears is what is assigned,
what is committed was its member's, each callback is called, and given time it reads again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import ClientError
from logquake.client.network.effects import Close, Effect, Write
from logquake.client.network.links import Links
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.telling import Telling
from logquake.wire.api import ApiKey
from logquake.wire.header import RequestHeader
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.link_bytes import asked, tell
from tests.doubles.topics_told import TopicsTold
from tests.doubles.willing_links import carry_out
from tests.unit.client.cluster_in_memory import FakeClock, all_versions
from tests.unit.client.consumer.group.model_coordinator import PARTITIONS, ModelCoordinator

EVENTS = 300
PASSES = 2_000
SETTINGS = GroupSettings(
    "g",
    session_timeout_ms=6_000,
    heartbeat_interval_ms=1_000,
    max_poll_interval_ms=8_000,
    request_timeout_ms=3_000,
    auto_commit_interval_ms=2_000,
)


class Run:
    """A member, its program, which polls now and then, and a network that loses connections."""

    def __init__(self, seed: int, assignor: Assignor) -> None:
        self._random = Random(seed)
        self.coordinator = ModelCoordinator(self._random)
        self.is_calm = False
        self._clock = FakeClock()
        self._waiting: deque[tuple[int, RequestHeader, Message]] = deque()
        self._calls: list[tuple[Steps[Any], Wait]] = []
        self.held: set[TopicPartition] = set()  # as the listener heard
        self.called: Counter[int] = Counter()
        self.asynchronous = 0
        self._cluster = TopicsTold()
        self._cluster.tell({"t": PARTITIONS}, "both")
        self.subscriptions = Subscriptions(OffsetReset.EARLIEST)
        self.subscriptions.subscribe(["t"])
        settings = NetworkSettings(request_timeout_ms=3_000, max_in_flight_requests=100)
        self._links = Links(settings, self._random)
        self._telling = Telling()
        self.coordination = Coordination(
            SETTINGS,
            NetworkClient(settings, self._links, self._cluster, self._random),
            self._cluster,
            self.subscriptions,
            [assignor],
            self._clock,
            self._random,
            beside=self._telling.add,
        )

    # As a listener

    def on_assigned(self, places: Sequence[TopicPartition], /) -> None:
        assert self.held.isdisjoint(places)
        self.held |= set(places)
        self._may_fail()

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        assert self.held >= set(places)
        self.held -= set(places)
        self._may_fail()

    def on_lost(self, places: Sequence[TopicPartition], /) -> None:
        self.on_revoked(places)

    def _may_fail(self) -> None:
        self._something_happens()
        if not self.is_calm and self._random.random() < 0.1:
            raise OSError("the program's own")

    # What the program does

    def play(self) -> None:
        for _ in range(EVENTS):
            self._random.choice(
                (*(self._something_happens,) * 8, self.poll, self._consume, self._commit, self._ask)
            )()
            if self._random.random() < 0.02:
                self._clock.now += 9_000  # it is stuck
        self.is_calm = True

    def poll(self) -> None:
        self._call(self._poll())
        assert self.held == self.subscriptions.assigned

    def _poll(self) -> Steps[None]:
        self.coordination.polled(self._clock.now)
        yield from self.coordination.attend(self)

    def _consume(self) -> None:
        for place in self.subscriptions.assigned:
            state = self.subscriptions.of(place)
            if state.valid_position is not None:
                state.seek(FetchPosition(state.valid_position.offset + 1))

    def _commit(self) -> None:
        offsets = {place: OffsetAndMetadata(1) for place in self.subscriptions.assigned}
        if self._random.random() < 0.5:
            self._call(self.coordination.commit(offsets, self._clock.now + 2_000))
            return
        number, self.asynchronous = self.asynchronous, self.asynchronous + 1

        def hear(_: Offsets, _error: ClientError | None) -> None:
            self.called[number] += 1

        self._call(self.coordination.commit_async(offsets, hear))

    def _ask(self) -> None:
        places = [TopicPartition("t", 0)]
        self._call(self.coordination.committed(places, self._clock.now + 2_000))

    @property
    def is_settled(self) -> bool:
        """In the last generation that the coordinator knows, with a position everywhere."""
        mine = self.coordination.group_metadata().generation_id
        is_newest = mine == self.coordinator.generation > 0
        return is_newest and not self.subscriptions.initializing()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        for _ in range(PASSES):
            if is_so():
                return
            self._something_happens()
            self.poll()
        raise AssertionError("it never comes to that")

    # The program's calls

    def _call(self, steps: Steps[Any], sent: Any = None) -> None:
        take = steps.send
        try:
            while not isinstance(step := take(sent), Wait):
                take, sent = steps.send, None
                try:
                    step.function()
                except OSError as error:
                    take, sent = steps.throw, error
            self._calls.append((steps, step))
        except (StopIteration, ClientError):
            pass

    def _go_on_with_calls(self) -> None:
        for each in self._calls.copy():
            steps, wait = each
            is_done = wait.is_done()
            if each in self._calls and (is_done or wait.deadline_ms <= self._clock.now):
                self._calls.remove(each)
                self._call(steps, is_done)

    # The network

    def _something_happens(self) -> None:
        if self._waiting and self._random.random() < 0.6:
            self._answer_one()
        else:
            self._clock.now += self._random.choice([1, 5, 50, 200])
        if self._cluster.is_update_wanted and self._random.random() < 0.5:
            self._cluster.tell({"t": PARTITIONS}, "both")
        self._go_on()
        self._go_on_with_calls()

    def _answer_one(self) -> None:
        link, header, request = self._waiting.popleft()
        chance = 1.0 if self.is_calm else self._random.random()
        if chance < 0.05:
            self._links.lost(link, "reset by peer", self._clock.now)
        elif chance < 0.1:
            self.coordinator.answer(request, refuses=False)
            self._links.lost(link, "reset by peer", self._clock.now)
        else:
            answer = (
                self.coordinator.nonsense(request)
                if chance < 0.15
                else self.coordinator.answer(request, refuses=chance < 0.3)
            )
            tell(self._links, link, header, answer, self._clock.now)

    def _go_on(self) -> None:
        for _ in range(PASSES):
            self._links.poll(self._clock.now)
            self.coordination.poll(self._clock.now)
            effects = self._links.take_effects()
            self._telling.tell()
            due_ms = self.coordination.next_due_ms(self._clock.now)
            if not effects and (due_ms is None or due_ms > self._clock.now):
                return
            for effect in effects:
                self._do(effect)
        raise AssertionError("it never rests")

    def _do(self, effect: Effect) -> None:
        carry_out(effect, self._links, self._clock.now, self._write, self._closes)

    def _write(self, effect: Write) -> None:
        header, request = asked(effect)
        self._links.written(effect.link)
        if header.api_key == ApiKey.API_VERSIONS:
            tell(self._links, effect.link, header, all_versions(), self._clock.now)
        else:
            self._waiting.append((effect.link, header, request))

    def _closes(self, effect: Close) -> None:
        self._waiting = deque(each for each in self._waiting if each[0] != effect.link)


@pytest.mark.parametrize(
    "assignor", [RangeAssignor(), CooperativeStickyAssignor()], ids=["eager", "cooperative"]
)
@pytest.mark.parametrize("seed", range(25))
def test_a_member_whatever_happens(seed: int, assignor: Assignor) -> None:
    run = Run(seed, assignor)
    run.play()
    run.wait_until(lambda: run.is_settled)
    run.wait_until(lambda: len(run.called) == run.asynchronous)
    assert set(run.called.values()) <= {1}
