"""Each codec: there and back, its edges, and what it refuses."""

from __future__ import annotations

import gzip
import random
import struct
import zlib

import cramjam
import lz4.frame
import pytest
import zstandard

from logquake.wire.compression import Codec, codec_of, compress, decompress, snappy
from logquake.wire.errors import ErrorCode, RecordError

decompressobj = zlib.decompressobj

LIMIT = 100_000
PLAIN = bytes(range(256)) * 300
PACKING = [codec for codec in Codec if codec is not Codec.NONE]


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("plain", [b"", b"x", PLAIN])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_there_and_back(codec: Codec, plain: bytes, kind: type) -> None:
    packed = compress(codec, kind(plain))
    assert decompress(codec, kind(packed), LIMIT) == plain


@pytest.mark.parametrize("codec", Codec)
def test_the_limit_itself_is_allowed_and_one_byte_more_is_not(codec: Codec) -> None:
    packed = compress(codec, PLAIN)
    assert decompress(codec, packed, len(PLAIN)) == PLAIN
    with pytest.raises(RecordError) as refused:
        decompress(codec, packed, len(PLAIN) - 1)
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", PACKING)
def test_every_truncation_is_refused(codec: Codec) -> None:
    packed = compress(codec, PLAIN[:2000])
    # Framed snappy that ends between two blocks, or before the first, is whole.
    whole = set(range(16, 20)) if codec is Codec.SNAPPY else set()
    for length in set(range(len(packed))) - whole:
        with pytest.raises(RecordError) as refused:
            decompress(codec, packed[:length], LIMIT)
        assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", PACKING)
def test_garbage_is_refused(codec: Codec) -> None:
    with pytest.raises(RecordError) as refused:
        decompress(codec, b"\xfe garbage that no codec wrote", LIMIT)
    assert refused.value.code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.MESSAGE_TOO_LARGE)


@pytest.mark.parametrize("codec", [Codec.LZ4, Codec.GZIP])
def test_bytes_after_the_stream_are_passed_over_as_in_java(codec: Codec) -> None:
    for after in (b"junk", b"j" * 40, compress(codec, PLAIN)[:10]):
        assert decompress(codec, compress(codec, PLAIN) + after, LIMIT) == PLAIN
    assert decompress(Codec.SNAPPY, compress(Codec.SNAPPY, PLAIN) + b"jnk", LIMIT) == PLAIN


@pytest.mark.parametrize("codec", [Codec.SNAPPY, Codec.ZSTD])
def test_bytes_after_the_stream_are_refused(codec: Codec) -> None:
    with pytest.raises(RecordError):
        decompress(codec, compress(codec, PLAIN) + b"junk", LIMIT)


def test_a_gzip_member_after_the_first_must_be_sound() -> None:
    with pytest.raises(RecordError):
        decompress(Codec.GZIP, gzip.compress(b"ab") + gzip.compress(b"cd")[:-1], 4)


def test_concatenated_gzip_members_and_zstd_frames_read_as_one() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"ab") + gzip.compress(b"cd"), 4) == b"abcd"
    frames = zstandard.compress(b"ab") + zstandard.compress(b"cd")
    assert decompress(Codec.ZSTD, frames, 4) == b"abcd"


class CountedBytes:
    """zlib, and how much it was handed."""

    def __init__(self, window_bits: int, handed: list[int]) -> None:
        self._member = decompressobj(window_bits)
        self._handed = handed

    def decompress(self, data: memoryview, most_bytes: int) -> bytes:
        self._handed.append(len(data))
        return self._member.decompress(data, most_bytes)

    def __getattr__(self, name: str) -> object:
        return getattr(self._member, name)


@pytest.mark.parametrize("plain", [b"", b"x"])
def test_many_small_gzip_members_are_not_handed_over_again_for_each(
    plain: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[int] = []
    monkeypatch.setattr(zlib, "decompressobj", lambda bits: CountedBytes(bits, handed))
    member, count = gzip.compress(plain, mtime=0), 100_000
    assert decompress(Codec.GZIP, member * count, count) == plain * count
    assert sum(handed) < 8192 * count  # half a megabyte to each, if it were all that follows
    assert handed[0] == len(member) * count  # an ordinary batch has one member, in one go


@pytest.mark.parametrize("before", [b"", gzip.compress(b"ab", mtime=0)])
def test_a_gzip_member_of_any_length_is_read_whole_bounded_and_refused_where_it_is_damaged(
    before: bytes,
) -> None:
    noise = random.Random(5).randbytes(20_000)  # which no codec makes shorter
    packed = gzip.compress(noise, mtime=0)
    plain = gzip.decompress(before) + noise
    assert decompress(Codec.GZIP, before + packed, len(plain)) == plain
    assert decompress(Codec.GZIP, before + packed + b"j" * 40, len(plain)) == plain
    with pytest.raises(RecordError) as refused:
        decompress(Codec.GZIP, before + packed, len(plain) - 1)
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
    damaged = [packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:]]  # in the CRC
    truncated = [packed[:end] for end in (18, 4095, 4096, 4097, 8192, 19_999, len(packed) - 1)]
    for each in damaged + truncated:
        with pytest.raises(RecordError) as refused:
            decompress(Codec.GZIP, before + each, LIMIT)
        assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("again", [0, 1, 1000])
def test_zstd_with_empty_blocks_is_read_and_refused_where_it_ends_amid_them(again: int) -> None:
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(b"")
    packed = frame[:-3] + b"\0\0\0" * again + b"\1\0\0"
    assert decompress(Codec.ZSTD, packed, 0) == b""
    for missing in (1, 2, 3):
        with pytest.raises(RecordError) as refused:
            decompress(Codec.ZSTD, packed[:-missing], 0)
        assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


def test_zstd_skips_a_skippable_frame() -> None:
    skippable = struct.pack("<II", 0x184D2A53, 3) + b"xyz"
    assert decompress(Codec.ZSTD, skippable + zstandard.compress(b"ab"), 4) == b"ab"


def test_zstd_with_a_checksum_is_checked() -> None:
    packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(PLAIN))
    assert decompress(Codec.ZSTD, bytes(packed), LIMIT) == PLAIN
    packed[-1] ^= 1
    with pytest.raises(RecordError):
        decompress(Codec.ZSTD, bytes(packed), LIMIT)


def test_snappy_is_read_raw_and_framed_and_written_framed() -> None:
    packed = compress(Codec.SNAPPY, PLAIN)
    assert packed.startswith(snappy.MAGIC)
    raw = bytes(cramjam.snappy.compress_raw(PLAIN))
    assert decompress(Codec.SNAPPY, raw, LIMIT) == PLAIN


def test_snappy_bounds_the_sum_of_its_blocks() -> None:
    packed = compress(Codec.SNAPPY, bytes(3 * snappy.BLOCK_BYTES))
    with pytest.raises(RecordError) as refused:
        decompress(Codec.SNAPPY, packed, 2 * snappy.BLOCK_BYTES)
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_lz4_frames_have_independent_blocks_as_java_requires() -> None:
    packed = compress(Codec.LZ4, PLAIN * 10)
    assert lz4.frame.get_frame_info(packed)["block_linked"] is False


@pytest.mark.parametrize("size", [0, 1, 1_000, 64 * 1024, 10_000_000])
def test_lz4_that_packs_as_tightly_as_it_can_is_read_whole(size: int) -> None:
    packed = lz4.frame.compress(bytes(size), compression_level=12, store_size=False)
    assert decompress(Codec.LZ4, packed, size) == bytes(size)


@pytest.mark.parametrize("attributes", [5, 6, 7, 0x25])
def test_an_undefined_codec_is_refused(attributes: int) -> None:
    with pytest.raises(RecordError) as refused:
        codec_of(attributes)
    assert refused.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_flags_beside_the_codec_do_not_matter() -> None:
    assert codec_of(0x78 | Codec.LZ4) is Codec.LZ4
