"""The operations that the caller may perform on a resource, as in responses (KIP-430)."""

from __future__ import annotations

from logquake.wire.acls import AclOperation

_NOT_TOLD = -(2**31)  # MetadataResponse.AUTHORIZED_OPERATIONS_OMITTED
_NO_OPERATIONS = (AclOperation.UNKNOWN, AclOperation.ANY, AclOperation.ALL)

Operations = frozenset[AclOperation] | None


def operations_of(bits: int) -> Operations:
    """None if they were not requested, or the broker does not report them."""
    if bits == _NOT_TOLD:
        return None
    return frozenset(
        each for each in AclOperation if bits >> each & 1 and each not in _NO_OPERATIONS
    )
