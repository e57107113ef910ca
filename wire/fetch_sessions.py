"""Where a fetch session stands, for whoever fetches (KIP-227, Kafka's FetchMetadata)."""

from __future__ import annotations

from typing import NamedTuple

NO_SESSION = 0  # INVALID_SESSION_ID
INITIAL_EPOCH = 0  # of a request that names all, and opens a session
FINAL_EPOCH = -1  # of one that names all, and wants none
MAX_INT32 = 2**31 - 1


def next_epoch(epoch: int) -> int:
    """The epoch of the request after one with this epoch (FetchMetadata.nextEpoch)."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == MAX_INT32 else epoch + 1


class FetchMetadata(NamedTuple):
    """What the next request says of its session. A full one that names an id ends that session."""

    session_id: int = NO_SESSION
    epoch: int = INITIAL_EPOCH

    @property
    def is_full(self) -> bool:
        return self.epoch in (INITIAL_EPOCH, FINAL_EPOCH)

    def answered(self, session_id: int) -> FetchMetadata:
        """The leader gave a session, kept it, or keeps none (NO_SESSION)."""
        if session_id == NO_SESSION:
            return FetchMetadata()
        kept = session_id if self.is_full else self.session_id
        return FetchMetadata(kept, next_epoch(self.epoch))

    def lost(self) -> FetchMetadata:
        """No usable answer: end the session, if there is one, and begin another."""
        return FetchMetadata(self.session_id, INITIAL_EPOCH)

    def closing(self) -> FetchMetadata:
        return FetchMetadata(self.session_id, FINAL_EPOCH)
