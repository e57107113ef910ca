"""FindCoordinator in each of its versions: about one key, from 4 on about several (KIP-699)."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.client.errors import MalformedResponseError, UnsupportedVersionError
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

SEVERAL_SINCE = 4
# The errors of a broker that no longer coordinates, to any request.
COORDINATOR_MOVED = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR})


def lookup(version: int, kind: CoordinatorType, keys: Sequence[str]) -> FindCoordinatorRequest:
    """Raises UnsupportedVersionError for several keys in a version that has only one."""
    if version >= SEVERAL_SINCE:
        return FindCoordinatorRequest(key_type=kind, coordinator_keys=list(keys))
    if len(keys) > 1:
        raise UnsupportedVersionError("the broker finds one coordinator at a time")
    return FindCoordinatorRequest(key=keys[0], key_type=kind)


def found_in(answer: FindCoordinatorResponse, key: str) -> Sequence[Coordinator]:
    """The coordinators in a response; in versions without keys it is that of ``key``."""
    has_none = not (answer.error_code or answer.host)
    if answer.coordinators or has_none:
        return answer.coordinators
    alone = Coordinator(
        key=key,
        node_id=answer.node_id,
        host=answer.host,
        port=answer.port,
        error_code=answer.error_code,
        error_message=answer.error_message,
    )
    return [alone]


def found_of(answer: FindCoordinatorResponse, key: str) -> Coordinator:
    """The coordinator of one key. Raises MalformedResponseError if the response lacks it."""
    found = found_in(answer, key)
    if [each.key for each in found] != [key]:
        raise MalformedResponseError(f"asked for the coordinator of {key}, told of {found}")
    return found[0]
