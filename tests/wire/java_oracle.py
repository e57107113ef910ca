"""Kafka's own message classes, behind a JVM that is started once and asked in batches."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

SOURCE = Path(__file__).with_name("java") / "MessageOracle.java"
OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
DEFAULTS = -1  # the version to read when a message of defaults is wanted


@dataclass(frozen=True, slots=True)
class Case:
    """Bytes of a version, to be read and then written in a version that may be another."""

    name: str
    read_version: int
    write_version: int
    data: bytes = b""

    def packed(self) -> bytes:
        name = self.name.encode()
        versions = struct.pack(">hhi", self.read_version, self.write_version, len(self.data))
        return struct.pack(">H", len(name)) + name + versions + self.data


@dataclass(frozen=True, slots=True)
class Written:
    """What was read, written again, and how many bytes at the end were not read."""

    data: bytes
    json: Any
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """Bytes that could not be read; or, with is_read, written in the version asked for."""

    reason: str
    is_read: bool = False


class JavaOracle:
    """Answers cases in their order."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin = stdin
        self._stdout = stdout

    def ask(self, cases: Iterable[Case]) -> list[Written | Refused]:
        packed = [case.packed() for case in cases]
        self._stdin.write(struct.pack(">i", len(packed)) + b"".join(packed))
        self._stdin.flush()
        return [self._answer() for _ in packed]

    def _answer(self) -> Written | Refused:
        (unread, is_written) = struct.unpack(">i?", self._read(5))
        if not is_written:
            return Refused(self._sized(">H").decode("utf-8", "replace"), unread >= 0)
        data = self._sized(">i")
        return Written(data, json.loads(self._sized(">i")), unread)

    def _sized(self, code: str) -> bytes:
        (size,) = struct.unpack(code, self._read(struct.calcsize(code)))
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data = self._stdout.read(size)
        if len(data) < size:
            raise EOFError("the JVM has ended; its complaint is on stderr")
        return data


@contextmanager
def java_oracle(java: str, libs: Path) -> Iterator[JavaOracle]:
    command = [java, *OPTIONS, "-cp", f"{libs}/*", str(SOURCE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield JavaOracle(process.stdin, process.stdout)
