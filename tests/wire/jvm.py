"""A Java program of the tests, over Kafka's jars, that is started once and asked in batches."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

FOLDER = Path(__file__).with_name("java")
OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class Jvm:
    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin = stdin
        self._stdout = stdout

    def ask(self, packed: Sequence[bytes]) -> None:
        """The answers follow in the same order, to be read piece by piece."""
        self._stdin.write(struct.pack(">i", len(packed)) + b"".join(packed))
        self._stdin.flush()

    def number(self, code: str) -> int:
        (number,) = struct.unpack(code, self.read(struct.calcsize(code)))
        return int(number)

    def sized(self, code: str) -> bytes:
        return self.read(self.number(code))

    def text(self) -> str:
        """As DataOutputStream.writeUTF wrote it."""
        return self.sized(">H").decode("utf-8", "replace")

    def read(self, size: int) -> bytes:
        data = self._stdout.read(size)
        if len(data) < size:
            raise EOFError("the JVM has ended; its complaint is on stderr")
        return data


@contextmanager
def jvm(java: str, libs: Path, source: str) -> Iterator[Jvm]:
    """source is the name of a file in FOLDER."""
    command = [java, *OPTIONS, "-cp", f"{libs}/*", str(FOLDER / source)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Jvm(process.stdin, process.stdout)
