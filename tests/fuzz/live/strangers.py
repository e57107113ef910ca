"""Connections that send many requests at once, and hold the answers against what was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from logquake.wire.api import ApiKey, response_type
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import decode_response
from logquake.wire.schema import Struct
from tests.fuzz.live.fitness import readable
from tests.fuzz.live.inputs import Expected, Input
from tests.fuzz.live.kafka_fails_too import kafka_fails_too
from tests.fuzz.live.over_quota import Rests
from tests.fuzz.live.raw_ways import Socket
from tests.fuzz.live.ways import Welcome

MOST_EXAMPLES = 3
PATIENCE_S = 1.5  # longer than anything that is sent may wait
A_BURST = 16

Connect = Callable[[], Socket]


@dataclass
class Findings:
    """``faults`` with the first few inputs of each kind; the rest are counts."""

    sent: int = 0
    answered: int = 0
    ended: int = 0  # connections, as they should
    unanswered: int = 0  # in time: groups and transactions may wait
    hung_up: int = 0  # by who was told to wait long
    by_key: Counter[int] = field(default_factory=Counter)
    unknown_errors: Counter[str] = field(default_factory=Counter)
    throttled: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def fault(self, what: str, input_: Input) -> None:
        self.faults[what] += 1
        self.example(what, input_)

    def example(self, what: str, input_: Input) -> None:
        known = self.examples.setdefault(what, [])
        if len(known) < MOST_EXAMPLES:
            known.append(str(input_))


class Stranger:
    """One connection, made again whenever it was ended."""

    def __init__(self, connect: Connect, findings: Findings, welcome: Welcome) -> None:
        self._connect = connect
        self._findings = findings
        self._welcome = welcome
        self._was_answered = False
        self._rests = Rests(findings.throttled)
        self._socket: Socket | None = None
        self._burst: list[Input] = []

    def send(self, inputs: Iterator[Input]) -> None:
        """A burst that ends with the first request that has to, or may, end the connection."""
        self._burst = []
        for made in inputs:
            self._burst.append(made)
            if made.expected is not Expected.ANSWER or len(self._burst) == A_BURST:
                break
        if self._socket is None:
            self._socket = self._connect()
            self._socket.settimeout(PATIENCE_S)
            self._was_answered = False
            self._rests = Rests(self._findings.throttled)
        self._rests.on_sent(monotonic())
        with suppress(OSError):  # it was ended meanwhile: the answers tell how far it came
            self._socket.sendall(b"".join(made.frame for made in self._burst))
        self._findings.sent += len(self._burst)
        self._findings.by_key.update(made.key for made in self._burst)

    def collect(self) -> None:
        """The answers to what was sent last."""
        assert self._socket is not None
        for made in self._burst:
            if made.expected is Expected.NOTHING:
                self.close()
                return
            try:
                answer = self._read()
            except TimeoutError:
                self._findings.unanswered += 1
                self._findings.example(f"unanswered {made.key}", made)
                self.close()
                return
            if answer is None:
                self._note_end(made)
                self.close()
                return
            self._note_answer(made, answer)
            if self._rests.is_long(monotonic()):
                self._findings.hung_up += 1
                self.close()
                return

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _read(self) -> bytes | None:
        """The body of a frame, or None at the end of the connection. Raises TimeoutError."""
        size = self._exactly(4)
        return self._exactly(int.from_bytes(size)) if size is not None else None

    def _exactly(self, size: int) -> bytes | None:
        assert self._socket is not None
        content = bytearray(size)
        missing = memoryview(content)
        try:
            while missing:
                received = self._socket.recv_into(missing)
                if not received:
                    return None
                missing = missing[received:]
        except ConnectionError:
            return None
        return bytes(content)

    def _note_end(self, made: Input) -> None:
        self._findings.ended += 1
        if made.expected is Expected.ANSWER and self._is_sure:
            self._findings.fault(f"{_name(made)} ended its connection", made)

    @property
    def _is_sure(self) -> bool:
        """Whether there has to be an answer."""
        match self._welcome:
            case Welcome.ALWAYS:
                return True
            case Welcome.ONCE_ANSWERED:
                return self._was_answered
        return False

    def _note_answer(self, made: Input, answer: bytes) -> None:
        self._findings.answered += 1
        self._was_answered = True
        if made.expected is Expected.END:
            self._findings.fault("what cannot be read was answered", made)
        if made.expected is not Expected.ANSWER:
            return
        response = response_type(made.key)
        assert response is not None
        try:
            _, body = decode_response(response, made.version, memoryview(answer))
        except ProtocolError:
            self._findings.fault(f"{_name(made)} was answered with what cannot be read", made)
            return
        errors = frozenset(_errors(body))
        for what in self._rests.on_answer(made.key, made.version, body, errors, monotonic()):
            self._findings.fault(what, made)
        if ErrorCode.UNKNOWN_SERVER_ERROR not in errors:
            return
        read = readable(made.content)
        if read is not None and kafka_fails_too(made.key, made.version, read[1]):
            self._findings.unknown_errors[_name(made)] += 1
        else:
            self._findings.fault(f"{_name(made)} was answered with UNKNOWN_SERVER_ERROR", made)


def _name(made: Input) -> str:
    return ApiKey(made.key).name


def _errors(struct: Struct) -> Iterator[int]:
    for name in struct.__schema__.fields:
        value: Any = getattr(struct, name)
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, Struct):
                yield from _errors(each)
            elif name == "error_code":
                yield each
