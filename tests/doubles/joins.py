"""JoinGroup as a membership is asked it."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.values import Join, JoinReply, Protocol

RANGE = (Protocol("range", b""),)


def join_of(
    member_id: str,
    reply: JoinReply,
    *,
    unique: str,
    group_instance_id: str | None = None,
    client_id: str = "c",
    session_timeout_ms: int = 10_000,
    rebalance_timeout_ms: int = 60_000,
    protocol_type: str = "consumer",
    protocols: tuple[Protocol, ...] = RANGE,
    needs_member_id: bool = False,
    can_skip_assignment: bool = True,
) -> Join:
    """A consumer's, but for what is said; ``unique`` ends the id of who has none yet."""
    return Join(
        member_id,
        group_instance_id,
        client_id,
        "/127.0.0.1",
        session_timeout_ms,
        rebalance_timeout_ms,
        protocol_type,
        protocols,
        "for a reason",
        unique,
        needs_member_id,
        can_skip_assignment,
        reply,
    )
