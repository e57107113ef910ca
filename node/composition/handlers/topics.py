"""Topics come, grow, get other leaders and go: by the controller."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.requests.create_partitions import CreatePartitions
from logquake.node.requests.create_topics import CreateTopics
from logquake.node.requests.delete_topics import DeleteTopics
from logquake.node.requests.elect_leaders import ElectLeaders
from logquake.node.requests.handler import Handler


def topic_handlers(parts: Parts) -> list[Handler[Any]]:
    settings, controller, authorizer = parts.settings, parts.controller, parts.authorizer
    cache, waiters = parts.metadata, parts.waiters
    return [
        CreateTopics(
            controller,
            cache,
            waiters,
            authorizer,
            parts.config,
            between_brokers=settings.listeners.inter_broker,
        ),
        DeleteTopics(
            controller,
            cache,
            waiters,
            authorizer,
            is_enabled=settings.controller.delete_topic_enable,
        ),
        CreatePartitions(controller, cache, waiters, authorizer),
        ElectLeaders(controller, cache, waiters, parts.outside.scheduler),
    ]
