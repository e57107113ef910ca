"""Which broker coordinates a group or a transactional id (FindCoordinator)."""

from __future__ import annotations

from logquake.client.connection import Connection
from logquake.client.coordinator_lookups import SEVERAL_SINCE, lookup
from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.messages.find_coordinator import FindCoordinatorResponse


def coordinator_of(router: Router, kind: CoordinatorType, name: str) -> int:
    """The broker's id.

    Raises ClientError, a retriable one while there is none: asking makes the coordinators' topic.
    """
    one_key = SEVERAL_SINCE - 1
    answer = router.any_broker().request(
        lookup(one_key, kind, [name]), FindCoordinatorResponse, at_most=one_key
    )
    check(answer.error_code, f"{kind.name.lower()} coordinator of {name}")
    return answer.node_id


def group_coordinator(router: Router, group_id: str) -> Connection:
    return router.broker(coordinator_of(router, CoordinatorType.GROUP, group_id))
