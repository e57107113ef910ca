"""Which partition keys go to: murmur2 as `client.producer.hashing` has it, of many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logquake.client.producer.hashing import MIX, SEED, murmur2
from logquake.pipeline.sink.encoding.cells import Cells
from logquake.pipeline.sink.encoding.numbers import Numbers

_SEED = np.uint32(SEED)
_MIX = np.uint32(MIX)
_WORD_BYTES = 4
_POSITIVE = 0x7FFFFFFF
# A turn is for one word of all keys: of those with many there are few, and each has its own.
_LONG_BYTES = 256


def partitions_of(keys: Cells, partition_count: int) -> Numbers:
    """Of those that are null it says nothing."""
    return (hashes_of(keys).astype(np.int64) & _POSITIVE) % partition_count


def hashes_of(keys: Cells) -> NDArray[np.uint32]:
    sizes = np.diff(keys.bounds)
    hashes = np.zeros(len(keys), np.uint32)
    short = np.flatnonzero(sizes <= _LONG_BYTES)
    hashes[short] = _murmur2(keys.data, keys.bounds[:-1][short].astype(np.int64), sizes[short])
    for place in np.flatnonzero(sizes > _LONG_BYTES):
        hashes[place] = murmur2(keys.content[int(place)].as_py())
    return hashes


def _murmur2(
    data: NDArray[np.uint8], starts: Numbers, sizes: NDArray[np.int32]
) -> NDArray[np.uint32]:
    states = _SEED ^ sizes.astype(np.uint32)
    words = sizes // _WORD_BYTES
    for turn in range(int(words.max(initial=0))):
        some = np.flatnonzero(words > turn)
        mixed = _little_endian(data, starts[some] + turn * _WORD_BYTES, _WORD_BYTES) * _MIX
        mixed ^= mixed >> np.uint32(24)
        states[some] = states[some] * _MIX ^ mixed * _MIX
    tails = sizes % _WORD_BYTES
    for tail in range(1, _WORD_BYTES):
        some = np.flatnonzero(tails == tail)
        last = _little_endian(data, starts[some] + sizes[some] - tail, tail)
        states[some] = (states[some] ^ last) * _MIX
    states = (states ^ states >> np.uint32(13)) * _MIX
    return states ^ states >> np.uint32(15)


def _little_endian(data: NDArray[np.uint8], starts: Numbers, size: int) -> NDArray[np.uint32]:
    numbers = np.zeros(len(starts), np.uint32)
    for place in range(size):
        numbers |= data[starts + place].astype(np.uint32) << np.uint32(8 * place)
    return numbers
