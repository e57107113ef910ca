"""Kafka's own message classes, behind a JVM that is started once and asked in batches."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.wire.jvm import Jvm, jvm

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

    def __init__(self, program: Jvm) -> None:
        self._jvm = program

    def ask(self, cases: Iterable[Case]) -> list[Written | Refused]:
        packed = [case.packed() for case in cases]
        self._jvm.ask(packed)
        return [self._answer() for _ in packed]

    def _answer(self) -> Written | Refused:
        unread, is_written = self._jvm.number(">i"), self._jvm.number(">?")
        if not is_written:
            return Refused(self._jvm.text(), unread >= 0)
        data = self._jvm.sized(">i")
        return Written(data, json.loads(self._jvm.sized(">i")), unread)


@contextmanager
def java_oracle(java: str, libs: Path) -> Iterator[JavaOracle]:
    with jvm(java, libs, "MessageOracle.java") as program:
        yield JavaOracle(program)
