"""The states of a transactional producer (TransactionManager.State).

    Uninitialized -> Initializing -> Ready -> InTransaction -> Committing -> Ready
                                                            -> Aborting -> Ready or Initializing

On an error, `Failed` demands an abort; after `Broken` nothing helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from logquake.client.errors import ClientError


class Remedy(IntEnum):
    """What an abort has to do so that the producer can go on. A greater one contains the others."""

    ABORT = 0
    # Sequences are unclear: the coordinator is asked for the next epoch (KIP-360).
    NEXT_EPOCH = 1
    # The coordinator has forgotten the producer: there is nothing that it could end.
    NEW_ID = 2


@dataclass(frozen=True, slots=True)
class Uninitialized:
    """init_transactions() comes first, and may be called again after it was denied."""


@dataclass(frozen=True, slots=True)
class Initializing:
    """A coordinator is asked for the id, or for its next epoch."""


@dataclass(frozen=True, slots=True)
class Ready:
    """No transaction is open."""


@dataclass(frozen=True, slots=True)
class InTransaction:
    pass


@dataclass(frozen=True, slots=True)
class Committing:
    """All that was sent is being written, and then the coordinator is told."""


@dataclass(frozen=True, slots=True)
class Aborting:
    """What has left is waited for, and then the coordinator is told."""

    remedy: Remedy = Remedy.ABORT


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing but an abort is possible."""

    error: ClientError
    remedy: Remedy = Remedy.ABORT


@dataclass(frozen=True, slots=True)
class Broken:
    """Nothing is possible any more."""

    error: ClientError


State = (
    Uninitialized | Initializing | Ready | InTransaction | Committing | Aborting | Failed | Broken
)

Completing = Committing | Aborting
Ongoing = InTransaction | Committing | Aborting | Failed
