"""What the blocking and the asyncio consumer share: how they are created."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

from logquake.client.arguments import check_callback, check_time
from logquake.client.assembling import Foundation, lay_foundation
from logquake.client.clock import Clock
from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.callers import Callers
from logquake.client.consumer.composing import ConsumerParts
from logquake.client.consumer.consuming import Consuming
from logquake.client.consumer.deserializing import Deserializer
from logquake.client.consumer.group.statistics import GroupEvent
from logquake.client.consumer.interceptors import ConsumerInterceptor
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.reading import merged, read
from logquake.client.telling import Telling

CLOSE_TIMEOUT_MS = 30_000
ITERATION_MS = 60_000  # of each poll within an endless loop over records


class FoundedConsumer(NamedTuple):
    config: ConsumerConfig
    foundation: Foundation
    consuming: Consuming
    telling: Telling


def found_consumer(
    config: Mapping[str, object] | None,
    keys: Mapping[str, object],
    *,
    key_deserializer: Deserializer | None,
    value_deserializer: Deserializer | None,
    interceptors: Sequence[ConsumerInterceptor],
    assignors: Sequence[Assignor | str] | None,
    on_event: Callable[[GroupEvent], object] | None,
    callers: Callers,
    clock: Clock | None = None,
    random: Random | None = None,
) -> FoundedConsumer:
    """An argument replaces the configuration key of its name. Raises SettingsError, and TypeError
    for an ``on_event`` that is not callable.
    """
    check_callback(on_event, "on_event")
    arguments = {
        "key_deserializer": key_deserializer,
        "value_deserializer": value_deserializer,
        "interceptor_classes": tuple(interceptors) or None,
        "partition_assignment_strategy": assignors,
    }
    table = read(ConsumerConfig, merged(config, keys, arguments))
    parts = ConsumerParts(table)
    foundation = lay_foundation(table, topics=parts.topics, clock=clock, random=random)
    telling = Telling()
    consuming = parts.consuming(
        foundation.network,
        foundation.metadata,
        foundation.updates,
        foundation.clock,
        foundation.random,
        callers=callers,
        beside=telling.add,
        on_event=_handed_on(on_event, telling),
    )
    return FoundedConsumer(table, foundation, consuming, telling)


def _handed_on(
    on_event: Callable[[GroupEvent], object] | None, telling: Telling
) -> Callable[[GroupEvent], None]:
    """Have the driver call ``on_event``, while nobody holds the core."""

    def add(event: GroupEvent) -> None:
        if on_event is not None:
            telling.add(partial(on_event, event))

    return add


class ConsumerFacade(ABC):
    """``config`` has Kafka's keys with dots or underscores, ``keys`` with underscores.
    Deserializers, interceptors and assignors are objects; Kafka's assignors may be given by name.
    Without a deserializer, keys and values are bytes. Raises SettingsError.

    ``on_event`` is called, on the client's own thread or on the loop, whenever the member joins,
    drops out, or loses its coordinator, and when a rebalance or a commit fails, with the cause.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        /,
        *,
        key_deserializer: Deserializer | None = None,
        value_deserializer: Deserializer | None = None,
        interceptors: Sequence[ConsumerInterceptor] = (),
        assignors: Sequence[Assignor | str] | None = None,
        on_event: Callable[[GroupEvent], object] | None = None,
        **keys: Any,
    ) -> None:
        founded = found_consumer(
            config,
            keys,
            key_deserializer=key_deserializer,
            value_deserializer=value_deserializer,
            interceptors=interceptors,
            assignors=assignors,
            on_event=on_event,
            callers=self._new_callers(),
        )
        self.config = founded.config
        self._consuming = founded.consuming
        self._start(founded)

    @abstractmethod
    def _start(self, founded: FoundedConsumer) -> None:
        """Start the driver."""

    @abstractmethod
    def _new_callers(self) -> Callers:
        """What admits one thread, or one task, at a time."""

    def _or_api(self, timeout_ms: int | None) -> int:
        """Raises TypeError or ValueError for an invalid timeout."""
        if timeout_ms is None:
            return self.config.default_api_timeout_ms
        check_time(timeout_ms)
        return timeout_ms
