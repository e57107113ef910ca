"""Transactions that a producer means to begin here, while their coordinator is asked (KIP-890).

Kafka's VerificationStateEntry and VerificationGuard. Whoever wants to append a transaction's first
batch begins a verification, asks the coordinator whether the partition belongs to the transaction,
and appends with the guard that it got. Any transactional batch or marker of the producer ends the
verification: an answer that comes after a marker opens no transaction that nobody would end, not
even if the producer is being verified anew by then.

Nothing of this is in a file. It is forgotten with the log's object, and then asked anew.
"""

from __future__ import annotations


class VerificationGuard:
    """One verification, known by its identity.

    ``lowest_sequence`` is the lowest that asked under ``epoch``: no later batch may come before it,
    or it could never be appended.
    """

    __slots__ = ("epoch", "lowest_sequence", "since_ms")

    def __init__(self, epoch: int, sequence: int, since_ms: int) -> None:
        self.epoch = epoch
        self.lowest_sequence = sequence
        self.since_ms = since_ms  # wall time

    def join(self, epoch: int, sequence: int) -> None:
        """Another batch asks; one of an earlier epoch changes nothing."""
        if epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence
        elif epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)


class Verifications:
    """Those under way in one log, by producer id."""

    __slots__ = ("_under_way", "required")

    def __init__(self) -> None:
        self.required = False  # transaction.partition.verification.enable
        self._under_way: dict[int, VerificationGuard] = {}

    def begin(self, producer_id: int, epoch: int, sequence: int, now_ms: int) -> VerificationGuard:
        """The guard of the verification under way, a new one where none is."""
        guard = self._under_way.get(producer_id)
        if guard is None:
            guard = self._under_way[producer_id] = VerificationGuard(epoch, sequence, now_ms)
        else:
            guard.join(epoch, sequence)
        return guard

    def get(self, producer_id: int) -> VerificationGuard | None:
        return self._under_way.get(producer_id)

    def end(self, producer_id: int) -> None:
        self._under_way.pop(producer_id, None)

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget those that nobody followed up for expiration_ms."""
        self._under_way = {
            producer_id: guard
            for producer_id, guard in self._under_way.items()
            if now_ms - guard.since_ms < expiration_ms
        }
