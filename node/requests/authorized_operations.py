"""The bit fields of KIP-430: which operations a client may do on a resource.

Without an authorizer everything that a resource supports is allowed (AclEntry.supportedOperations
in Kafka); each operation's bit is its AclOperation code.
"""

from __future__ import annotations

from enum import IntEnum

NOT_ASKED = -(2**31)  # the schema's default


class _Operation(IntEnum):
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


def _bits(*operations: _Operation) -> int:
    return sum(1 << operation for operation in operations)


ON_TOPIC = _bits(
    _Operation.READ,
    _Operation.WRITE,
    _Operation.CREATE,
    _Operation.DELETE,
    _Operation.ALTER,
    _Operation.DESCRIBE,
    _Operation.DESCRIBE_CONFIGS,
    _Operation.ALTER_CONFIGS,
)

ON_GROUP = _bits(_Operation.READ, _Operation.DESCRIBE, _Operation.DELETE)

ON_CLUSTER = _bits(
    _Operation.CREATE,
    _Operation.ALTER,
    _Operation.DESCRIBE,
    _Operation.CLUSTER_ACTION,
    _Operation.DESCRIBE_CONFIGS,
    _Operation.ALTER_CONFIGS,
    _Operation.IDEMPOTENT_WRITE,
)
