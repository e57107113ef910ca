"""What Kafka's leader makes of a producer's records, behind a JVM that is asked in batches."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from logquake.storage.log_config import LogConfig, TimestampType

SOURCE = Path(__file__).with_name("java") / "RecordsOracle.java"
OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
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

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin = stdin
        self._stdout = stdout

    def judge(self, cases: Iterable[Produced]) -> list[Verdict]:
        packed = [case.packed() for case in cases]
        self._stdin.write(struct.pack(">i", len(packed)) + b"".join(packed))
        self._stdin.flush()
        return [self._verdict() for _ in packed]

    def _verdict(self) -> Verdict:
        error, said = self._number(">h"), self._text()
        faults = tuple((self._number(">i"), self._text()) for _ in range(self._number(">i")))
        appended = self._read(self._number(">i"))
        return Verdict(error, said, faults, appended, self._read(1) == b"\1")

    def _text(self) -> str:
        return self._read(self._number(">H")).decode("utf-8", "replace")

    def _number(self, code: str) -> int:
        (number,) = struct.unpack(code, self._read(struct.calcsize(code)))
        return int(number)

    def _read(self, size: int) -> bytes:
        data = self._stdout.read(size)
        if len(data) < size:
            raise EOFError("the JVM has ended; its complaint is on stderr")
        return data


@contextmanager
def records_oracle(java: str, libs: Path) -> Iterator[RecordsOracle]:
    command = [java, *OPTIONS, "-cp", f"{libs}/*", str(SOURCE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield RecordsOracle(process.stdin, process.stdout)
