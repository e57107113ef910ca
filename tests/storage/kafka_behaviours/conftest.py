"""Every behaviour is tested on a log of ours alone and, with Kafka's jars, beside Kafka's own log.

Beside it every answer and, at the test's end, every file is compared: what the tests expect is then
what Kafka does. LOGQUAKE_KAFKA_LIBS names a folder with the jars of Kafka 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.storage.log_config import LogConfig
from logquake.wire.records import ControlType, Record, encode_batch, encode_end_marker
from tests.storage.kafka_log import KafkaLog, kafka_log
from tests.storage.lone_log import LoneLog
from tests.storage.twin_logs import TwinLogs

BESIDE_KAFKA = "beside Kafka"


@pytest.fixture(scope="session")
def _kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaLog]:
    with kafka_log(tmp_path_factory.mktemp("kafka")) as log:
        yield log


@pytest.fixture(params=["alone", pytest.param(BESIDE_KAFKA, marks=pytest.mark.maven)])
def begin(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., LoneLog]]:
    """begin(**settings of LogConfig): an empty log. At the end it is compared, closed, compared."""
    begun: list[LoneLog] = []

    def begin_it(**settings: Any) -> LoneLog:
        chosen: dict[str, Any] = {"index_interval_bytes": 1} | settings
        config = LogConfig(**chosen)
        if request.param == BESIDE_KAFKA:
            begun.append(TwinLogs(tmp_path, request.getfixturevalue("_kafka"), config))
        else:
            begun.append(LoneLog(tmp_path, config))
        begun[0].compare()
        begun[0].lead(0)
        return begun[0]

    yield begin_it
    for log in begun:
        log.compare()
        log.close()


@pytest.fixture(scope="session")
def batch() -> Callable[..., bytes]:
    """batch(*timestamps, offset=, size=, epoch=, pid=, sequence=, **of encode_batch).

    A record of ``size`` bytes each; -1 is no timestamp.
    """

    def make(
        *timestamps: int,
        offset: int = 0,
        size: int = 10,
        epoch: int = -1,
        pid: int = -1,
        sequence: int = -1,
        **rest: Any,
    ) -> bytes:
        records = [
            Record(offset + index, timestamp, b"k", b"v" * size)
            for index, timestamp in enumerate(timestamps)
        ]
        if pid >= 0:
            rest = {"producer_epoch": 0} | rest
        return bytes(
            encode_batch(
                records,
                base_offset=offset,
                leader_epoch=epoch,
                producer_id=pid,
                base_sequence=sequence,
                **rest,
            )
        )

    return make


@pytest.fixture(scope="session")
def abort() -> Callable[..., bytes]:
    """abort(pid, offset=, epoch=, timestamp=): the marker that aborts a producer's transaction."""

    def make(pid: int, offset: int = 0, epoch: int = -1, timestamp: int = 5) -> bytes:
        return bytes(
            encode_end_marker(
                ControlType.ABORT,
                coordinator_epoch=0,
                producer_id=pid,
                producer_epoch=0,
                timestamp_ms=timestamp,
                base_offset=offset,
                leader_epoch=epoch,
            )
        )

    return make
