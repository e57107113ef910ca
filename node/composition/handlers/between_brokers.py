"""What brokers and the controller tell each other."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.requests.for_controller import (
    AllocateProducerIds,
    AlterPartition,
    ControlledShutdown,
)
from logquake.node.requests.from_controller import LeaderAndIsr, StopReplica, UpdateMetadata
from logquake.node.requests.handler import Handler


def handlers_between_brokers(parts: Parts) -> list[Handler[Any]]:
    state_changes, controller = parts.replicas.state_changes, parts.controller
    return [
        LeaderAndIsr(state_changes, parts.topic_configs, parts.broker_epoch),
        StopReplica(state_changes, parts.broker_epoch),
        UpdateMetadata(
            state_changes,
            parts.metadata,
            parts.waiters,
            parts.lost_leaders,
            parts.topic_configs,
            parts.groups.removal,
            parts.broker_epoch,
        ),
        ControlledShutdown(controller),
        AlterPartition(controller),
        AllocateProducerIds(controller),
    ]
