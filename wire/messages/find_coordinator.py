"""FindCoordinator: where a group or a transactional id is looked after."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    int8,
    int16,
    int32,
    string,
)


class FindCoordinatorRequest(Message, key=10, versions="0-6", flexible="3+"):
    """Which broker coordinates a group or a transactional id.

    1: key_type: 0 group, 1 transaction. 3: flexible. 4: several keys at once, in
    coordinator_keys (KIP-699). 5: TRANSACTION_ABORTABLE (KIP-890). 6: key_type 2, share groups
    (KIP-932).
    """

    key: str = string("0-3")
    key_type: int = int8("1+")
    coordinator_keys: list[str] = array(string, "4+")


class Coordinator(Struct):
    key: str = string("4+")
    node_id: int = int32("4+")
    host: str = string("4+")
    port: int = int32("4+")
    error_code: int = int16("4+")
    error_message: str | None = string("4+", nullable="4+", ignorable=True)


class FindCoordinatorResponse(Message, key=10, versions="0-6", flexible="3+"):
    """The coordinator's address; node id -1 with an error.

    1: throttle time and error message. 3: flexible. 4: coordinators, one a key (KIP-699).
    """

    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16("0-3")
    error_message: str | None = string("1-3", nullable="1-3", ignorable=True)
    node_id: int = int32("0-3")
    host: str = string("0-3")
    port: int = int32("0-3")
    coordinators: list[Coordinator] = array(Coordinator, "4+")
