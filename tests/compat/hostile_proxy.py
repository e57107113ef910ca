"""Stands between a client and an honest broker, and does something to its answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from random import Random
from typing import TypeAlias

from logquake.wire.api import response_type
from logquake.wire.header import (
    LENGTH_BYTES,
    RequestHeader,
    decode_request_header,
    decode_response,
    encode_response,
    response_header_version,
)
from tests.doubles.absurd_answers import absurd
from tests.doubles.ill_written import ill_written
from tests.parts import joined

Pieces: TypeAlias = Iterator[bytes]
Asked: TypeAlias = dict[int, RequestHeader]
"""By correlation id, on one connection."""
Hostility = Callable[[Random, bytes, bytes], bytes | Pieces]
"""Of an answer without its length, and the one before it: all that the client is sent."""

ABSURD = b"\x7f\xff\xff\xff"


class Answer(bytes):
    """With what it is an answer to."""

    key = version = 0


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH_BYTES) + body


def honest(_random: Random, answer: bytes, _before: bytes) -> bytes:
    return framed(answer)


def damaged(random: Random, answer: bytes, _before: bytes) -> bytes:
    """The correlation id stays, so that it is decoded."""
    content = bytearray(answer)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(4, len(content)) if len(content) > 4 else len(content)
        match random.randrange(4):
            case 0 if place < len(content):
                content[place] ^= 1 << random.randrange(8)
            case 1:
                del content[place : place + random.randint(1, 8)]
            case 2:
                content[place:place] = random.randbytes(random.randint(1, 8))
            case _:
                content[place : place + 2] = random.randbytes(2)
    return framed(bytes(content))


def absurd_counts(random: Random, answer: bytes, _before: bytes) -> bytes:
    content = bytearray(answer)
    place = random.randrange(4, max(5, len(content)))
    content[place : place + 4] = random.choice([ABSURD, b"\xff\xff\xff\xff", b"\xff\xff\xff\x0f"])
    return framed(bytes(content))


def wrong_correlation(random: Random, answer: bytes, _before: bytes) -> bytes:
    return framed(random.randbytes(4) + answer[4:])


def for_another(_random: Random, answer: bytes, before: bytes) -> bytes:
    """What was said before, as if it were the answer to this."""
    return framed(answer[:4] + before[4:])


def absurd_values(random: Random, answer: bytes, _before: bytes) -> bytes:
    """Well-formed, with checksums that fit, and of numbers and names that cannot be."""
    if not isinstance(answer, Answer) or (response := response_type(answer.key)) is None:
        return framed(answer)
    correlation_id, said = decode_response(response, answer.version, memoryview(answer))
    told = absurd(said, answer.version, random)
    return joined(encode_response(correlation_id, told, answer.version))


def absurd_encoding(random: Random, answer: bytes, _before: bytes) -> bytes:
    """Of nulls, counts, texts and tags that no message may have, and of codes that nobody knows."""
    if not isinstance(answer, Answer) or (response := response_type(answer.key)) is None:
        return framed(answer)
    _, said = decode_response(response, answer.version, memoryview(answer))
    no_tags = b"\0" * response_header_version(response, answer.version)
    return framed(answer[:4] + no_tags + ill_written(said, answer.version, random))


def absurd_length(_random: Random, answer: bytes, _before: bytes) -> bytes:
    return ABSURD + answer


def one_by_one(_random: Random, answer: bytes, _before: bytes) -> Pieces:
    """A hundred megabytes are announced, and some of them come, byte by byte."""
    yield (100 << 20).to_bytes(LENGTH_BYTES)
    for byte in answer + bytes(2_000):
        yield bytes([byte])


def flood(_random: Random, answer: bytes, _before: bytes) -> Pieces:
    """As much as is announced comes, and no end of what nobody has asked for."""
    yield (100 << 20).to_bytes(LENGTH_BYTES) + answer[:4]
    yield bytes((100 << 20) - 4)
    yield from (framed(answer) * 1_000 for _ in range(10))


def full_of_little(_random: Random, answer: bytes, _before: bytes) -> bytes:
    """Whatever it is decoded as, it has as many of the least things as there is room for."""
    return framed(answer[:4] + b"\0\1\0\0" * (1 << 20))


def never_whole(random: Random, answer: bytes, _before: bytes) -> bytes:
    """It waits for the rest, until its time is up."""
    return framed(answer)[: random.randrange(LENGTH_BYTES + len(answer))]


HOSTILITIES: dict[str, Hostility] = {
    each.__name__: each
    for each in (
        damaged,
        absurd_counts,
        absurd_values,
        absurd_encoding,
        wrong_correlation,
        for_another,
        absurd_length,
        never_whole,
    )
}
WASTEFUL: dict[str, Hostility] = {
    each.__name__: each
    for each in (absurd_counts, absurd_length, one_by_one, flood, full_of_little)
}
"""Of memory, if a client lets them."""
UNMISTAKABLE = (wrong_correlation, absurd_length, never_whole)
"""Whatever is left of them, nobody takes it for an answer."""


class HostileProxy:
    """``hostility`` may be changed at any time; it befalls one answer in ``one_in``."""

    def __init__(self, seed: int = 0) -> None:
        self.hostility: Hostility = honest
        self.one_in = 3
        self.random = Random(seed)
        self.target = 0  # a port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._sockets: list[socket.socket] = [self._listening]
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._spawn(self._accept)

    def _spawn(self, run: Callable[..., None], *of: socket.socket) -> None:
        thread = threading.Thread(target=run, args=of, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._join_up(client)

    def _join_up(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        with self._lock:
            self._sockets += [client, server]
        asked: Asked = {}
        self._spawn(partial(self._pass_requests, asked), client, server)
        self._spawn(partial(self._pass_answers, asked), server, client)

    def _pass_requests(self, asked: Asked, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while (request := _frame(client)) is not None:
                header, _ = decode_request_header(memoryview(request))
                asked[header.correlation_id] = header
                server.sendall(framed(request))
        _end(client, server)

    def _pass_answers(self, asked: Asked, server: socket.socket, client: socket.socket) -> None:
        before = b"\0\0\0\0"
        with suppress(OSError):
            while (content := _frame(server)) is not None:
                answer = _answer(content, asked)
                altered = self._altered(answer, before)
                for piece in [altered] if isinstance(altered, bytes) else altered:
                    client.sendall(piece)
                before = answer
        _end(client, server)

    def _altered(self, answer: bytes, before: bytes) -> bytes | Pieces:
        with self._lock:
            if self.random.randrange(self.one_in):
                return framed(answer)
            return self.hostility(self.random, answer, before)

    def close(self) -> None:
        _end(*self._sockets)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()


@contextmanager
def hostile_proxy() -> Iterator[HostileProxy]:
    proxy = HostileProxy()
    try:
        yield proxy
    finally:
        proxy.close()


def _answer(content: bytes, asked: Asked) -> Answer:
    header = asked.pop(int.from_bytes(content[:4]))
    answer = Answer(content)
    answer.key, answer.version = header.api_key, header.api_version
    return answer


def _frame(source: socket.socket) -> bytes | None:
    head = _exactly(source, LENGTH_BYTES)
    return None if head is None else _exactly(source, int.from_bytes(head))


def _exactly(source: socket.socket, count: int) -> bytes | None:
    content = bytearray()
    while len(content) < count:
        piece = source.recv(count - len(content))
        if not piece:
            return None
        content += piece
    return bytes(content)


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
