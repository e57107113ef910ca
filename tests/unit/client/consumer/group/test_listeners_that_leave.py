"""A listener that leaves its group while it is told to give something up: it is told once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.errors import NotSubscribedError
from logquake.wire.api import ApiKey
from logquake.wire.messages.fetch import FetchRequest, FetchResponse
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import Handler
from tests.unit.client.consumer.group.model_coordinator import ModelCoordinator
from tests.unit.client.consumer.lone_consumer import LoneConsumer
from tests.unit.client.consumer.test_absurd_brokers import COORDINATED, listed

ASSIGNORS = ["range", "cooperative-sticky"]


class Program:
    """It does ``leaves`` whenever it is told to give up what it has."""

    def __init__(self, assignor: str) -> None:
        told = partial(ModelCoordinator(Random(3)).answer, refuses=False)
        handlers: dict[ApiKey, Handler] = {
            **dict.fromkeys(COORDINATED, lambda request, _: told(request)),
            ApiKey.FETCH: self.fetched,
            ApiKey.LIST_OFFSETS: listed,
        }
        self.lone = LoneConsumer(
            handlers,
            group_id="g",
            auto_offset_reset="earliest",
            partition_assignment_strategy=[assignor],
        )
        self.consuming = self.lone.consuming
        self.heard: list[str] = []
        self.held: set[TopicPartition] = set()
        self.leaves: Callable[[], object] = lambda: None
        self.subscribe("t")
        while not self.consuming.assignment():
            self.poll()
        self.heard.clear()

    def on_assigned(self, places: Sequence[TopicPartition], /) -> None:
        self.heard.append(f"assigned {len(places)}")
        assert self.held.isdisjoint(places)
        self.held |= set(places)

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        self.heard.append(f"revoked {len(places)}")
        assert self.held >= set(places)
        self.held -= set(places)
        self.leaves()

    on_lost = on_revoked

    def subscribe(self, topic: str) -> None:
        self.lone.call(self.consuming.subscribe([topic], self))

    def unsubscribe(self) -> None:
        self.lone.call(self.consuming.unsubscribe())

    def poll(self) -> None:
        self.lone.call(self.consuming.poll(100, Taken()))

    def fetched(self, request: FetchRequest, _: object) -> FetchResponse:
        """Nothing."""
        self.lone.clock.now += request.max_wait_ms
        return FetchResponse()

    @property
    def has_left(self) -> int:
        return len(self.lone.network.requests[ApiKey.LEAVE_GROUP])


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_what_it_gives_up_as_it_unsubscribes_it_is_not_told_again(assignor: str) -> None:
    program = Program(assignor)
    program.leaves = program.unsubscribe
    program.unsubscribe()
    assert program.heard == ["revoked 1"]
    program.lone.be_left_alone(100)
    assert program.has_left == 1


def test_it_may_leave_in_a_rebalance() -> None:
    program = Program("range")
    program.leaves = program.unsubscribe
    program.consuming.enforce_rebalance("to be told")
    program.poll()
    with pytest.raises(NotSubscribedError):
        program.poll()
    assert program.heard == ["revoked 1"]
    assert not program.consuming.assignment()
    assert program.has_left == 1


def test_what_it_left_does_not_come_back_where_it_subscribes_anew() -> None:
    program = Program("cooperative-sticky")

    def leaves() -> None:
        program.unsubscribe()
        program.subscribe("t")

    program.leaves = leaves
    while program.has_left < 5:
        program.consuming.enforce_rebalance("to be given others")
        program.poll()
        assert program.held == program.consuming.assignment()
