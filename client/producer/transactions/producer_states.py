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
    """What an abort has to do before the producer can continue. Greater ones include the lesser."""

    ABORT = 0
    # Sequences are unclear: request the next epoch from the coordinator (KIP-360).
    NEXT_EPOCH = 1
    # The coordinator has forgotten the producer: there is no transaction to end.
    NEW_ID = 2


@dataclass(frozen=True, slots=True)
class Uninitialized:
    """init_transactions() comes first, and may be repeated after an authorization error."""


@dataclass(frozen=True, slots=True)
class Initializing:
    """Waiting for the id, or for its next epoch, from the coordinator."""


@dataclass(frozen=True, slots=True)
class Ready:
    """No transaction is open."""


@dataclass(frozen=True, slots=True)
class InTransaction:
    pass


@dataclass(frozen=True, slots=True)
class Committing:
    """All records are being written; then the coordinator commits."""


@dataclass(frozen=True, slots=True)
class Aborting:
    """Waiting for batches in flight; then the coordinator aborts."""

    remedy: Remedy = Remedy.ABORT


@dataclass(frozen=True, slots=True)
class Failed:
    """Only an abort is possible."""

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
