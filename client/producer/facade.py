"""What the blocking and the asyncio producer share: how they are created."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from logquake.client.producer.appending.interceptors import ProducerInterceptor
from logquake.client.producer.appending.serializing import Serializer
from logquake.client.producer.partitioning import Partitioner
from logquake.client.producer.producing import Producing
from logquake.client.producer.statistics import ProducerEvent
from logquake.client.settings.reading import merged


class ProducerFacade(ABC):
    """``config`` has Kafka's keys with dots or underscores, ``keys`` with underscores. Serializers,
    interceptors and a partitioner are objects; without a serializer, keys and values are bytes.
    Raises SettingsError for an unknown key or an invalid value.

    ``on_event`` is called for each batch that is retried, split or given up, with the cause, where
    callbacks run, and in order with them.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        /,
        *,
        key_serializer: Serializer | Callable[[Any], bytes | None] | None = None,
        value_serializer: Serializer | Callable[[Any], bytes | None] | None = None,
        partitioner: Partitioner | None = None,
        interceptors: Sequence[ProducerInterceptor] = (),
        on_event: Callable[[ProducerEvent], object] | None = None,
        **keys: object,
    ) -> None:
        arguments = {
            "key_serializer": key_serializer,
            "value_serializer": value_serializer,
            "partitioner_class": partitioner,
            "interceptor_classes": tuple(interceptors) or None,
        }
        self._producing = Producing(merged(config, keys, arguments), on_event)
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Start the driver."""
