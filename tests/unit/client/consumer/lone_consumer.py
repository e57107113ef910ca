"""A consumer over the cluster in memory, driven by whoever waits; its passes are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import TypeVar

from logquake.client.consumer.callers import Threads
from logquake.client.consumer.facade import found_consumer
from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.steps import Call, Steps, Take, Wait, to_the_end
from logquake.wire.api import ApiKey
from tests.unit.client.cluster_in_memory import (
    FakeClock,
    FakeNetwork,
    FakeTopology,
    Handler,
    all_versions,
)

T = TypeVar("T")


class LoneConsumer:
    """Satisfies Core: it ends whoever goes round without an end."""

    def __init__(
        self,
        handlers: Mapping[ApiKey, Handler],
        network: Callable[[FakeClock], FakeNetwork] = FakeNetwork,
        **keys: object,
    ) -> None:
        self.clock = FakeClock()
        self.network = network(self.clock)
        self.network.handlers = {
            ApiKey.API_VERSIONS: lambda *_: all_versions(),
            ApiKey.METADATA: FakeTopology().metadata,
            **handlers,
        }
        founded = found_consumer(
            {"bootstrap.servers": "one:9092"},
            keys,
            key_deserializer=None,
            value_deserializer=None,
            interceptors=(),
            assignors=None,
            on_event=None,
            callers=Threads(lambda: 1),
            clock=self.clock,
            random=Random(1),
        )
        self.consuming = founded.consuming
        self._telling = founded.telling
        self.passes = 0
        self.most_passes = 10_000
        links = founded.foundation.links
        self._driver = BlockingDriver(links, self.network.new_sockets(), self.clock)

    def poll(self, now_ms: int) -> None:
        self.passes += 1
        assert self.passes <= self.most_passes, f"it goes round and round at {now_ms}"
        self.consuming.core.poll(now_ms)
        if self._telling.tell():
            self.consuming.core.poll(now_ms)

    def next_due_ms(self, polled_ms: int) -> int | None:
        return self.consuming.core.next_due_ms(polled_ms)

    def be_left_alone(self, duration_ms: int) -> None:
        """The program calls nothing for so long."""
        self._driver.run(self, lambda: False, self.clock.now + duration_ms)

    def call(self, steps: Steps[T]) -> T:
        """Of the program's, to its end."""
        return to_the_end(steps, self._carry_out)

    def _carry_out(self, step: Wait | Call, steps: Steps[T]) -> Take:
        if isinstance(step, Wait):
            return partial(steps.send, self._driver.run(self, step.is_done, step.deadline_ms))
        return partial(steps.send, step.function())
