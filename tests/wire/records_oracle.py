"""What Kafka's leader makes of a producer's records, behind a JVM that is asked in batches."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from logquake.storage.log_config import LogConfig, TimestampType
from tests.wire.jvm import Jvm, jvm

_SETTINGS = struct.Struct(">hib??qqqqii")


@dataclass(frozen=True)
class Produced:
    """Records as a request of that version brings them to a log that ends at end_offset."""

    records: bytes
    version: int
    now_ms: int
    config: LogConfig = field(default_factory=LogConfig)
    end_offset: int = 0
    leader_epoch: int = 0

    def packed(self) -> bytes:
        config = self.config
        return (
            _SETTINGS.pack(
                self.version,
                config.max_message_bytes,
                -1 if config.compression is None else config.compression,
                config.compacted,
                config.message_timestamp_type is TimestampType.LOG_APPEND_TIME,
                config.timestamp_before_max_ms,
                config.timestamp_after_max_ms,
                self.now_ms,
                self.end_offset,
                self.leader_epoch,
                len(self.records),
            )
            + self.records
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is appended; or the error code, and the records at fault with what is said of each."""

    error: int
    said: str = ""
    record_errors: tuple[tuple[int, str], ...] = ()
    appended: bytes = b""
    is_readable: bool = True  # by Kafka's own consumer


class RecordsOracle:
    """Judges in order."""

    def __init__(self, program: Jvm) -> None:
        self._jvm = program

    def judge(self, cases: Iterable[Produced]) -> list[Verdict]:
        packed = [case.packed() for case in cases]
        self._jvm.ask(packed)
        return [self._verdict() for _ in packed]

    def _verdict(self) -> Verdict:
        jvm = self._jvm
        error, said = jvm.number(">h"), jvm.text()
        faults = tuple((jvm.number(">i"), jvm.text()) for _ in range(jvm.number(">i")))
        appended = jvm.sized(">i")
        return Verdict(error, said, faults, appended, jvm.read(1) == b"\1")


@contextmanager
def records_oracle(java: str, libs: Path) -> Iterator[RecordsOracle]:
    with jvm(java, libs, "RecordsOracle.java") as program:
        yield RecordsOracle(program)
