"""Ways in which valid bytes go wrong: cut short, flipped, with absurd lengths, spliced."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

# Lengths and counts that a reader must not believe, in each form that the protocol has.
ABSURD = (
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xfe",
    b"\x00\xff\xff\xff",
    b"\x7f\xff",
    b"\x80\x00",
    b"\xff\xff",
    b"\xff\xff\xff\xff\x0f",  # varints: the largest, one too large, one without end, a long zero
    b"\xff\xff\xff\xff\x7f",
    b"\xff" * 12,
    b"\x80\x80\x80\x80\x00",
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\x80",
)


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes after one to three kinds of damage."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(DAMAGES)(data, random)
    return data


def _cut_short(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _flip(data: bytes, random: Random) -> bytes:
    flipped = bytearray(data or b"\0")
    for _ in range(random.choice((1, 1, 2, 8))):
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    return bytes(flipped)


def _overwrite(data: bytes, random: Random) -> bytes:
    absurd, position = random.choice(ABSURD), random.randrange(len(data) + 1)
    return data[:position] + absurd + data[position + len(absurd) :]


def _insert(data: bytes, random: Random) -> bytes:
    position = random.randrange(len(data) + 1)
    return data[:position] + random.choice((*ABSURD, random.randbytes(3))) + data[position:]


def _splice(data: bytes, random: Random) -> bytes:
    """A piece left out, or repeated."""
    first, last = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:first] + data[first:last] * random.choice((0, 2, 5)) + data[last:]


def _append_much(data: bytes, random: Random) -> bytes:
    """Room for counts that are believed as long as enough bytes follow."""
    return data + random.choice((b"\0", b"\1", b"\2", b"\xff")) * random.choice((50, 500, 3000))


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _cut_short,
    _flip,
    _overwrite,
    _overwrite,
    _insert,
    _splice,
    _append_much,
)
