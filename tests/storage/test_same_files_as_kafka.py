"""Kafka's own log and ours, the same done to both: byte for byte the same files after every step.

Appends of leaders and followers, of everybody, of idempotent producers and in transactions; rolls
by size, by time and by full indexes; truncations, retention, deleted records, clean stops, crashes
with torn and garbage tails. Compared are .log, .index, .timeindex, .txnindex, .snapshot and
leader-epoch-checkpoint, where both logs start and end, lookups by time, and ends of epochs.
twin_logs.py and random_twins.py say where Kafka is not followed, and why.

More seeds: ``python -m tests.storage.random_twins FIRST_SEED SEEDS STEPS``. LOGQUAKE_KAFKA_LIBS
names a folder with the jars of Kafka 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.storage.kafka_log import KafkaLog, kafka_log
from tests.storage.random_twins import RandomLife

pytestmark = pytest.mark.maven
STEPS = 60


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaLog]:
    with kafka_log(tmp_path_factory.mktemp("kafka")) as log:
        yield log


@pytest.mark.parametrize("seed", range(8))
def test_every_step_leaves_kafkas_files(
    seed: int, tmp_path: Path, kafka: KafkaLog, record_property: Callable[[str, object], None]
) -> None:
    life = RandomLife(seed, tmp_path, kafka)
    for _ in range(STEPS):
        life.step()
    life.end()
    record_property("steps after which a log has the files of Kafka's own", STEPS)
