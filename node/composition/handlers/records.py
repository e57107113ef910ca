"""Records in and out, and where they begin and end."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.requests.delete_records import DeleteRecords
from logquake.node.requests.downward import DownConversion
from logquake.node.requests.fetch import Fetch
from logquake.node.requests.handler import Handler
from logquake.node.requests.list_offsets import ListOffsets
from logquake.node.requests.offset_for_leader_epoch import OffsetForLeaderEpoch
from logquake.node.requests.produce import Produce


def record_handlers(parts: Parts) -> list[Handler[Any]]:
    return [
        _produce(parts),
        _fetch(parts),
        ListOffsets(parts.replicas, parts.authorizer),
        DeleteRecords(parts.replicas.deletions, parts.metadata, parts.authorizer),
        OffsetForLeaderEpoch(parts.replicas, parts.authorizer),
    ]


def _produce(parts: Parts) -> Produce:
    return Produce(
        parts.replicas.appends,
        parts.replicas.transactional_appends,
        parts.metadata,
        parts.settings.produce_pipelining,
        parts.authorizer,
    )


def _fetch(parts: Parts) -> Fetch:
    settings = parts.settings
    return Fetch(
        parts.replicas.sessions,
        parts.replicas.fetches,
        parts.metadata,
        DownConversion(parts.replicas, parts.outside.workers, settings.down_conversion),
        parts.authorizer,
        max_bytes=settings.fetch_max_bytes,
    )
