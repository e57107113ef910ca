"""Batches of anybody, of idempotent producers and in transactions, drawn from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from logquake.storage.log.log import Log
from logquake.wire.records import (
    BatchFlag,
    Codec,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    encode_message_set,
)

# Each in a slot of its own of Kafka's hash map, by which a snapshot is ordered.
IDEMPOTENT = (7, 1000, 4016, 2**33 + 1)
TRANSACTIONAL = (20, 2001, 21)
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Drawn:
    batch: bytes
    is_marker: bool


@dataclass(slots=True)
class RandomBatches:
    """For one log, whose producers they continue.

    without_times: some have no timestamps. legacy: some are entries of message sets. misled: some
    of those for a leader, who refuses them, repeat sequences, leave some out, or are outdated.
    """

    rng: random.Random
    without_times: bool
    legacy: bool
    misled: bool

    def draw(self, log: Log, now_ms: int, base_offset: int, leader_epoch: int) -> Drawn:
        rng = self.rng
        writer = rng.choice((NOBODY, NOBODY, *IDEMPOTENT, *TRANSACTIONAL))
        if writer in TRANSACTIONAL and rng.random() < 0.3:
            return Drawn(self._marker(log, writer, now_ms, base_offset, leader_epoch), True)
        if writer == NOBODY and self.legacy and rng.random() < 0.3:
            record, *_ = self._records(writer, now_ms, base_offset)
            return Drawn(encode_message_set([record], rng.choice((0, 1))), False)
        records = self._records(writer, now_ms, base_offset)
        epoch, sequence = self._sequence(log, writer, self.misled and leader_epoch < 0)
        batch = encode_batch(
            records,
            codec=rng.choice((Codec.NONE, Codec.NONE, *Codec)),
            base_offset=base_offset,
            leader_epoch=leader_epoch,
            producer_id=writer,
            producer_epoch=epoch,
            base_sequence=sequence,
            flags=BatchFlag.TRANSACTIONAL if writer in TRANSACTIONAL else 0,
        )
        return Drawn(bytes(batch), False)

    def _records(self, writer: int, now_ms: int, base_offset: int) -> list[Record]:
        rng = self.rng
        base_ms = now_ms + rng.randint(-100, 30)
        has_times = not (self.without_times and writer == NOBODY and rng.random() < 0.1)
        return [
            Record(
                base_offset + index,
                base_ms + rng.randint(-20, 20) if has_times else -1,
                b"k",
                b"v" * rng.choice((1, 10, 50, 120)),
            )
            for index in range(rng.randint(1, 4))
        ]

    def _sequence(self, log: Log, writer: int, misled: bool) -> tuple[int, int]:
        """Producer epoch and base sequence."""
        if writer == NOBODY:
            return -1, -1
        entry = log.producers.get(writer)
        if entry is None:
            return 0, 0
        # Of the earlier batches Kafka knows the last one alone after a crash, ours as many as ever.
        earlier = [batch.first_sequence for batch in entry.batches]
        if misled and self.rng.random() < 0.2:
            epoch = max(0, entry.epoch + self.rng.choice((-1, 0, 0, 1)))
            known = [*earlier[-1:], entry.last_sequence + 2]
            return epoch, self.rng.choice([at for at in known if at not in earlier[:-1]] or [1_000])
        if entry.last_sequence + 1 in earlier:
            return entry.epoch + 1, 0
        return entry.epoch, entry.last_sequence + 1

    def _marker(
        self, log: Log, writer: int, now_ms: int, base_offset: int, leader_epoch: int
    ) -> bytes:
        misled = self.misled and leader_epoch < 0
        entry = log.producers.get(writer)
        epoch, coordinator_epoch = (entry.epoch, entry.coordinator_epoch) if entry else (0, 0)
        return bytes(
            encode_end_marker(
                self.rng.choice(tuple(ControlType)),
                coordinator_epoch=max(coordinator_epoch, 0)
                + (self.rng.randint(-1, 1) if misled else 0),
                producer_id=writer,
                producer_epoch=max(0, epoch + (self.rng.randint(-1, 1) if misled else 0)),
                timestamp_ms=now_ms,
                base_offset=base_offset,
                leader_epoch=leader_epoch,
            )
        )
