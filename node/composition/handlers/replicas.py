"""Replicas and their log directories, as tools look at them."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.requests.alter_replica_log_dirs import AlterReplicaLogDirs
from logquake.node.requests.describe_log_dirs import DescribeLogDirs
from logquake.node.requests.describe_producers import DescribeProducers
from logquake.node.requests.handler import Handler


def replica_handlers(parts: Parts) -> list[Handler[Any]]:
    return [
        AlterReplicaLogDirs(parts.replicas.moves),
        DescribeLogDirs(parts.replicas.log_dir_sizes, parts.outside.workers),
        DescribeProducers(parts.replicas, parts.metadata, parts.authorizer),
    ]
