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
from tests.storage.kafka_log import KafkaLog, kafka_log
from tests.storage.random_batches import RandomBatches
from tests.storage.twin_logs import TwinLogs

LARGE_INDEX = 2_000
NEVER_MS = 1_000_000


class RandomLife:
    def __init__(self, seed: int, folder: Path, kafka: KafkaLog) -> None:
        self._rng = rng = random.Random(seed)
        is_compacted = rng.random() < 0.3
        config = LogConfig(
            segment_bytes=rng.choice((900, 2_000, 5_000)),
            segment_ms=rng.choice((300, NEVER_MS)),
            index_interval_bytes=rng.choice((1, 200, 600)),
            index_max_bytes=rng.choice((48, 96, LARGE_INDEX)),
            retention_bytes=rng.choice((-1, 3_000)),
            retention_ms=rng.choice((-1, 500)),
            message_timestamp_type=rng.choice(tuple(TimestampType)),
            compacted=is_compacted,
            deleted=not is_compacted,
        )
        self.twins = TwinLogs(folder, kafka, config)
        # From a start within a gap that ends a segment Kafka recovers no producers.
        self._gaps = (0, 0, 7) if is_compacted and rng.random() < 0.5 else (0,)
        has_large_index = config.index_max_bytes == LARGE_INDEX
        is_legacy = config.segment_ms == NEVER_MS and rng.random() < 0.3
        # Kafka does not start after a crash if an index comes out larger than it was, and leaves a
        # needless snapshot before a last batch that is an entry of a message set.
        self._crashes = has_large_index and not is_legacy
        # Where a segment has no times at all, Kafka takes those of its file, and of its own making.
        self._has_times = not is_legacy and (config.segment_ms < NEVER_MS or rng.random() < 0.6)
        self._batches = RandomBatches(
            rng,
            without_times=not self._has_times,
            legacy=is_legacy,
            # Kafka rolls, if it is time to, before it refuses.
            misled=has_large_index and config.segment_ms == NEVER_MS and not is_legacy,
        )
        self._epoch = 0
        self._is_leader = True
        self._boundaries = [0]
        self.done: list[str] = []
        self.twins.lead(0)

    def step(self) -> None:
        rng, twins = self._rng, self.twins
        twins.now_ms += rng.randint(0, 40)
        names = ("append", "restart", "become", "truncate", "reopen", "crash", "retain", "start")
        crash = 1.5 if self._crashes else 0
        start = 1 if len(self._gaps) == 1 else 0
        weights = (40, 0.3, 2, 1.5, 2, crash, 2, start)
        (name,) = rng.choices(names, weights)
        self.done.append(name)
        getattr(self, f"_{name}")()
        twins.compare()
        if self._has_times and rng.random() < 0.1:
            self._look_up()

    def end(self) -> None:
        self.twins.close()

    # Steps

    def _append(self) -> None:
        if self._is_leader:
            self._produce()
        else:
            self._replicate()
        if self.twins.log.end_offset != self._boundaries[-1]:
            self._boundaries.append(self.twins.log.end_offset)

    def _produce(self) -> None:
        log = self.twins.log
        drawn = self._batches.draw(log, self.twins.now_ms, 0, -1)
        if self._batches.misled and not self._has_room(len(drawn.batch)):
            self._replicate()
        else:
            self.twins.accepts(drawn.batch, self._epoch, coordinator=drawn.is_marker)

    def _replicate(self) -> None:
        log = self.twins.log
        offset = log.end_offset + self._rng.choice(self._gaps)
        self.twins.replicate(self._batches.draw(log, self.twins.now_ms, offset, self._epoch).batch)

    def _has_room(self, size: int) -> bool:
        active = max(self.twins.ours.glob("*.log"))
        return active.stat().st_size + size <= self.twins.config.segment_bytes

    def _become(self) -> None:
        self._epoch += self._rng.randint(1, 2)
        self._is_leader = self._rng.random() < 0.6
        if self._is_leader:
            self.twins.lead(self._epoch)

    def _truncate(self) -> None:
        beyond = self.twins.log.end_offset + 3
        self.twins.truncate(self._rng.choice([*self._boundaries[-8:], beyond]))
        self._forget_boundaries()

    def _restart(self) -> None:
        offset = self.twins.log.end_offset + self._rng.randint(0, 50)
        self.twins.restart(offset)
        self._boundaries = []
        self._forget_boundaries()

    def _reopen(self) -> None:
        self.twins.reopen()
        self._forget_boundaries()

    def _crash(self) -> None:
        twins = self.twins
        bases = twins.files(".log")
        recovery_point = self._recovery_point(bases)
        start = twins.checkpointed_start
        twins.crash()
        twins.extend(f"{bases[-1]:020d}.log", self._rng.choice((-17, 0, 100)))
        twins.open(clean=False, recovery_point=recovery_point, log_start=start)
        self._forget_boundaries()

    def _retain(self) -> None:
        self.twins.retain()

    def _start(self) -> None:
        log = self.twins.log
        self.twins.raise_start(self._rng.randint(log.start_offset, log.end_offset))

    def _look_up(self) -> None:
        twins = self.twins
        for _ in range(4):
            twins.offset_for_time(twins.now_ms + self._rng.randint(-800, 50))
        twins.offset_of_max_timestamp()
        for epoch in range(max(0, self._epoch - 4), self._epoch + 2):
            twins.epoch_end(epoch)

    def _forget_boundaries(self) -> None:
        end = self.twins.log.end_offset
        self._boundaries = [offset for offset in self._boundaries if offset <= end] or [end]
        if self._is_leader:
            self.twins.lead(self._epoch)

    def _recovery_point(self, bases: list[int]) -> int:
        """Within a segment: one that ends there is indexed anew here, and not by Kafka."""
        log = self.twins.log
        first = max(base for base in bases if base <= log.start_offset)
        found = [base for base in bases if first <= base < log.end_offset]
        return max(self._rng.choice(found) + 1, log.start_offset) if found else 0


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
