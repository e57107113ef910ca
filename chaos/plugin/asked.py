"""What a test asks for, in keywords of logquake.cluster.api.Cluster.

The nearest wins, key by key: a parameter of the fixture, the marker of the function, of its class,
of its module, the fixture logquake_options. Settings in ``config`` are merged in the same way.

The coordinators' topics are smaller than Kafka's 50 partitions unless told otherwise: the first
member of a group waits for them to be made, and whoever restarts a broker for them to follow.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CLUSTER_MARK = "logquake"
TOPIC_MARK = "logquake_topic"
SMALL_COORDINATORS: Mapping[str, Mapping[str, Any]] = {
    "config": {"offsets.topic.num.partitions": 5, "transaction.state.log.num.partitions": 5}
}


@dataclass(frozen=True, slots=True)
class Asked:
    """``fresh`` is a cluster that no other test has had, nor will have."""

    options: Mapping[str, Any]
    fresh: bool = False

    @property
    def key(self) -> str:
        """The same for tests that can have the same cluster."""
        return json.dumps(self.options, sort_keys=True, default=str)


def asked(layers: Iterable[Mapping[str, Any]]) -> Asked:
    """Of keywords, the nearest first."""
    options: dict[str, Any] = {}
    for layer in [*layers, SMALL_COORDINATORS]:
        config = {**layer.get("config", {}), **options.get("config", {})}
        options = {**layer, **options, "config": config}
    fresh = bool(options.pop("fresh", False))
    return Asked(options, fresh)
