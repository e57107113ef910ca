"""The random life of a log: what is done to it next, drawn from a seed.

    python -m tests.storage.random_twins FIRST_SEED SEEDS STEPS

plays many of them, and ends at the first difference.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from logquake.storage.log_config import LogConfig, TimestampType
from logquake.wire.records import BatchFlag, ControlType, Record, encode_batch, encode_end_marker
from tests.storage.kafka_log import KafkaLog, kafka_log
from tests.storage.twin_logs import TwinLogs

LARGE_INDEX = 2_000
# Each in a slot of its own of Kafka's hash map, by which a snapshot is ordered.
IDEMPOTENT = (7, 1000, 4016, 2**33 + 1)
TRANSACTIONAL = (20, 2001, 21)


class RandomLife:
    def __init__(self, seed: int, folder: Path, kafka: KafkaLog) -> None:
        self._rng = rng = random.Random(seed)
        config = LogConfig(
            segment_bytes=rng.choice((700, 2_000, 5_000)),
            segment_ms=rng.choice((300, 1_000_000)),
            index_interval_bytes=rng.choice((1, 200, 600)),
            index_max_bytes=rng.choice((48, 96, LARGE_INDEX)),
            retention_bytes=rng.choice((-1, 3_000)),
            retention_ms=rng.choice((-1, 500)),
            message_timestamp_type=rng.choice(tuple(TimestampType)),
        )
        self.twins = TwinLogs(folder, kafka, config)
        # Kafka does not start after a crash if an index comes out larger than it was.
        self._crashes = config.index_max_bytes == LARGE_INDEX
        # Where a segment has no times at all, Kafka takes that of its file's last change for them.
        self._without_times = rng.random() < 0.3
        self._epoch = 0
        self._is_leader = True
        self._sequences: dict[int, int] = {}
        self._boundaries = [0]
        self.done: list[str] = []
        self.twins.lead(0)

    def step(self) -> None:
        rng, twins = self._rng, self.twins
        twins.now_ms += rng.randint(0, 40)
        names = ("append", "restart", "become", "truncate", "reopen", "crash", "retain", "start")
        weights = (40, 0.3, 2, 1.5, 2, 1.5 if self._crashes else 0, 2, 1)
        (name,) = rng.choices(names, weights)
        self.done.append(name)
        getattr(self, f"_{name}")()
        twins.compare()
        if not self._without_times and rng.random() < 0.1:
            self._look_up()

    def end(self) -> None:
        self.twins.close()

    def _append(self) -> None:
        rng = self._rng
        if not self._is_leader:
            self._replicate()
            return
        writer = rng.choice((-1, -1, *IDEMPOTENT, *TRANSACTIONAL))
        if writer in TRANSACTIONAL and rng.random() < 0.3:
            self.twins.accepts(self._marker(writer, 0), self._epoch, coordinator=True)
        else:
            self.twins.accepts(self._batch(writer, 0, -1), self._epoch)
        self._note_end()

    def _replicate(self) -> None:
        batches = []
        offset = self.twins.log.end_offset
        for _ in range(1):
            writer = self._rng.choice((-1, -1, *IDEMPOTENT, *TRANSACTIONAL))
            if writer in TRANSACTIONAL and self._rng.random() < 0.3:
                batches.append(self._marker(writer, offset))
                offset += 1
            else:
                batches.append(self._batch(writer, offset, self._epoch))
                offset += self._count
        self.twins.replicate(*batches)
        self._note_end()

    def _batch(self, writer: int, base_offset: int, leader_epoch: int) -> bytes:
        rng = self._rng
        count = self._count = rng.randint(1, 4)
        base_ms = (
            -1
            if self._without_times and writer < 0 and rng.random() < 0.1
            else self.twins.now_ms + rng.randint(-100, 30)
        )
        records = [
            Record(
                base_offset + index,
                base_ms if base_ms < 0 else base_ms + rng.randint(-20, 20),
                b"k",
                b"v" * rng.choice((1, 10, 50, 120)),
            )
            for index in range(count)
        ]
        sequence = -1
        if writer >= 0:
            entry = self.twins.log.producers.get(writer)
            sequence = 0 if entry is None else entry.last_sequence + 1
        return bytes(
            encode_batch(
                records,
                base_offset=base_offset,
                leader_epoch=leader_epoch,
                producer_id=writer,
                producer_epoch=0 if writer >= 0 else -1,
                base_sequence=sequence,
                flags=BatchFlag.TRANSACTIONAL if writer in TRANSACTIONAL else 0,
            )
        )

    def _marker(self, writer: int, base_offset: int) -> bytes:
        return bytes(
            encode_end_marker(
                self._rng.choice(tuple(ControlType)),
                coordinator_epoch=0,
                producer_id=writer,
                producer_epoch=0,
                timestamp_ms=self.twins.now_ms,
                base_offset=base_offset,
                leader_epoch=-1 if self._is_leader else self._epoch,
            )
        )

    def _note_end(self) -> None:
        end = self.twins.log.end_offset
        if end != self._boundaries[-1]:
            self._boundaries.append(end)

    def _become(self) -> None:
        self._epoch += self._rng.randint(1, 2)
        self._is_leader = self._rng.random() < 0.6
        if self._is_leader:
            self.twins.lead(self._epoch)

    def _truncate(self) -> None:
        offset = self._rng.choice([*self._boundaries[-8:], self.twins.log.end_offset + 3])
        self.twins.truncate(offset)
        self._boundaries = [at for at in self._boundaries if at <= self.twins.log.end_offset] or [
            self.twins.log.end_offset
        ]

    def _restart(self) -> None:
        offset = self.twins.log.end_offset + self._rng.randint(0, 50)
        self.twins.restart(offset)
        self._boundaries = [offset]

    def _reopen(self) -> None:
        self.twins.reopen()

    def _crash(self) -> None:
        twins = self.twins
        bases = sorted(int(path.stem) for path in twins.kafkas.glob("*.log"))
        recovery_point = self._recovery_point(bases)
        start = twins.checkpointed_start
        twins.crash()
        twins.extend(f"{bases[-1]:020d}.log", self._rng.choice((-17, 0, 100)))
        twins.open(clean=False, recovery_point=recovery_point, log_start=start)
        end = twins.log.end_offset
        self._boundaries = [at for at in self._boundaries if at <= end] or [end]

    def _recovery_point(self, bases: list[int]) -> int:
        """Within a segment: one that ends there is indexed anew here, and not by Kafka."""
        log = self.twins.log
        first = max(base for base in bases if base <= log.start_offset)
        found = [base for base in bases if first <= base < log.end_offset]
        return max(self._rng.choice(found) + 1, log.start_offset) if found else 0

    def _retain(self) -> None:
        self.twins.retain()

    def _start(self) -> None:
        log = self.twins.log
        offset = self._rng.randint(log.start_offset, log.end_offset)
        self.twins.raise_start(offset)

    def _look_up(self) -> None:
        twins = self.twins
        for _ in range(4):
            twins.offset_for_time(twins.now_ms + self._rng.randint(-800, 50))
        twins.offset_of_max_timestamp()
        for epoch in range(max(0, self._epoch - 4), self._epoch + 2):
            twins.epoch_end(epoch)


def main(first_seed: int, seeds: int, steps: int) -> None:
    with tempfile.TemporaryDirectory() as name, kafka_log(Path(name)) as kafka:
        for seed in range(first_seed, first_seed + seeds):
            life = RandomLife(seed, Path(name) / str(seed), kafka)
            try:
                for _ in range(steps):
                    life.step()
                life.end()
            except BaseException:
                print(f"seed {seed}: {' '.join(life.done)}")
                raise
    print(f"{seeds} seeds, {seeds * steps} steps")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
