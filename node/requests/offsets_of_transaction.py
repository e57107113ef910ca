"""Who may take a group's offsets into a transaction (AddOffsetsToTxn, TxnOffsetCommit)."""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.errors import ErrorCode


def offsets_denial(
    authorizer: Authorizer, request: Request, transactional_id: str, group_id: str
) -> ErrorCode | None:
    """None where the asker may write with the id and read with the group (KafkaApis)."""
    allows = authorizer.allows
    if not allows(request, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if not allows(request, AclOperation.READ, ResourceType.GROUP, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return None
