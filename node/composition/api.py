"""The table of served requests: the handlers of every room, and of requests about the table."""

from __future__ import annotations

from itertools import chain

from logquake.node.composition.handlers.between_brokers import handlers_between_brokers
from logquake.node.composition.handlers.configs import config_handlers
from logquake.node.composition.handlers.groups import group_handlers
from logquake.node.composition.handlers.metadata import metadata_handlers
from logquake.node.composition.handlers.records import record_handlers
from logquake.node.composition.handlers.replicas import replica_handlers
from logquake.node.composition.handlers.security import security_handlers
from logquake.node.composition.handlers.topics import topic_handlers
from logquake.node.composition.handlers.transactions import transaction_handlers
from logquake.node.composition.parts import Parts
from logquake.node.requests.api_table import ApiTable, unguarded
from logquake.node.requests.api_versions import ApiVersions
from logquake.node.requests.envelope import Envelope
from logquake.node.requests.guard import Guard

_ROOMS = (
    record_handlers,
    replica_handlers,
    metadata_handlers,
    topic_handlers,
    handlers_between_brokers,
    group_handlers,
    transaction_handlers,
    config_handlers,
    security_handlers,
)


def compose_api(parts: Parts) -> ApiTable:
    api = ApiTable(
        chain.from_iterable(handlers_of(parts) for handlers_of in _ROOMS),
        parts.quotas,
        around=unguarded if parts.acls is None else Guard(parts.authorizer).around,
    )
    api.add(ApiVersions(api))
    api.add(
        Envelope(
            api,
            parts.controller,
            parts.authorizer,
            is_enabled=parts.settings.forwarding_enabled,
            privileged=parts.settings.listeners.inter_broker,
        )
    )
    return api
