"""Requests as clients of every age send them, to be answered by a real broker and by ours.

A case is a topic's configuration and what is sent to it, one after the other. The answers of Kafka
3.9.1 are kept in tests/wire/vectors/old_frames-3.9.1.jsonl; test_old_frames.py asks a Kafka again.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from logquake.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from logquake.wire.records import (
    BatchFlag,
    BatchHeader,
    Codec,
    Record,
    check_crc,
    encode_batch,
    encode_message_set,
    iterate_batches,
    iterate_records,
)
from logquake.wire.schema import Message, decode, encode
from tests.parts import bytes_of

VECTORS = Path(__file__).parents[1] / "wire" / "vectors" / "old_frames-3.9.1.jsonl"
TOPIC = "old"
T = 1_700_000_000_000
LONG_AGO = 1_000
LIMIT_BYTES = 1 << 24
OLD_CODECS = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)

RECORDS = [
    Record(0, T, b"k0", b"first " * 8),
    Record(1, T + 5, None, b"second"),
    Record(2, T - 7, b"k2", None),
    Record(3, T + 2, b"", b""),
]


@dataclass(frozen=True)
class Ask:
    version: int
    body: Message


@dataclass(frozen=True)
class Case:
    name: str
    asks: list[Ask]
    config: dict[str, str] = field(default_factory=dict)


def produce(version: int, records: bytes | None, *, acks: int = -1, topic: str = TOPIC) -> Ask:
    data = PartitionProduceData(index=0, records=records)
    topic_data = [TopicProduceData(name=topic, partition_data=[data])]
    return Ask(version, ProduceRequest(acks=acks, timeout_ms=5000, topic_data=topic_data))


def fetch(version: int, offset: int = 0, *, max_bytes: int = 1 << 20, topic: str = TOPIC) -> Ask:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    return Ask(
        version,
        FetchRequest(
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            topics=[FetchTopic(topic=topic, partitions=[partition])],
        ),
    )


def every_fetch(*offsets: int) -> list[Ask]:
    return [fetch(version, offset) for offset in offsets for version in range(5)]


def message_set(magic: int, codec: Codec = Codec.NONE, records: list[Record] = RECORDS) -> bytes:
    return encode_message_set(records, magic, codec=codec)


def batch(records: list[Record] = RECORDS, **fields: Any) -> bytes:
    return bytes(encode_batch(records, **fields))


def altered(entry: bytes, at: int, layout: str, *values: int) -> bytes:
    """An entry of a message set with other fields, and the CRC that goes with them."""
    changed = bytearray(entry)
    struct.pack_into(layout, changed, at, *values)
    (size,) = struct.unpack_from(">i", changed, 8)
    crc = zlib.crc32(changed[16 : 12 + size])
    struct.pack_into(">I", changed, 12, crc)
    return bytes(changed)


def wrapper(magic: int, inner: bytes, *, offset: int = 0, codec: int = Codec.GZIP) -> bytes:
    """A compressed entry of whatever content."""
    packed = zlib.compressobj(wbits=31)
    value = packed.compress(inner) + packed.flush()
    entry = encode_message_set([Record(offset, T, None, value)], magic)
    return altered(entry, 17, ">B", codec)


def rewritten(data: bytes, at: int, layout: str, *values: int) -> bytes:
    """A batch of magic 2 with other fields, and the CRC that goes with them."""
    import crc32c

    changed = bytearray(data)
    struct.pack_into(layout, changed, at, *values)
    struct.pack_into(">I", changed, 17, crc32c.crc32c(bytes(changed[21:])))
    return bytes(changed)


def flipped(data: bytes, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


OUT_OF_ORDER = [RECORDS[at]._replace(offset=offset) for at, offset in enumerate((0, 2, 3, 7))]
KEYED = [record for record in RECORDS if record.key is not None]
BIG = [Record(at, T, b"k%d" % at, b"value %d" % at * 20) for at in range(40)]
WITH_HEADERS = [
    Record(at, T, b"k", b"v", tuple((f"header {n}", b"x" * 50) for n in range(4)))
    for at in range(12)
]
AT = {"attributes": 21, "count": 57, "last_delta": 23, "base_timestamp": 27}


def cases() -> Iterator[Case]:
    yield from _accepted()
    yield from _fetched()
    yield from _converted_by_topic()
    yield from _refused_sets()
    yield from _refused_batches()
    yield from _faulty_records()


def _accepted() -> Iterator[Case]:
    for magic in (0, 1):
        for codec in OLD_CODECS:
            for version in (0, 1, 2):
                asks = [produce(version, message_set(magic, codec)), *every_fetch(0, 2)]
                yield Case(f"magic {magic} in {codec.name}, Produce {version}", asks)
    twice = [produce(1, message_set(0)), produce(2, message_set(1, Codec.LZ4)), *every_fetch(0, 5)]
    yield Case("two sets, one after the other", twice)
    for acks in (1, -1, 2):
        yield Case(f"acks {acks}", [produce(1, message_set(0), acks=acks), fetch(0)])
    yield Case("nothing", [produce(v, b"") for v in (0, 1, 2)] + every_fetch(0))
    partial = message_set(1)[:-3]
    yield Case("an incomplete last message", [produce(2, partial), *every_fetch(0)])
    yield Case("only an incomplete message", [produce(2, partial[:20]), *every_fetch(0)])
    for version in (0, 2):
        yield Case(f"a batch in Produce {version}", [produce(version, batch()), *every_fetch(0, 1)])
    yield Case("zstd before it was known", [produce(2, batch(codec=Codec.ZSTD)), fetch(10)])
    idempotent = batch(producer_id=4711, producer_epoch=0, base_sequence=0)
    yield Case("a producer id in Produce 2", [produce(2, idempotent), fetch(4)])
    absolute = encode_message_set([r._replace(offset=r.offset + 40) for r in RECORDS], 1)
    yield Case("magic 1 with any offsets", [produce(2, absolute), *every_fetch(0)])
    inner = message_set(1)
    for offset in (0, 3, 9):
        asks = [produce(2, wrapper(1, inner, offset=offset)), *every_fetch(0)]
        yield Case(f"a wrapper with offset {offset}", asks)
    yield Case("a wrapper with an incomplete end", [produce(2, wrapper(1, inner[:-3])), fetch(3)])
    times = [record._replace(timestamp_ms=-1) for record in RECORDS]
    yield Case("magic 1 without times", [produce(2, message_set(1, records=times)), fetch(3)])


def _fetched() -> Iterator[Case]:
    for codec in OLD_CODECS:
        sent = [produce(3, batch(WITH_HEADERS, codec=codec))] * 3
        asks = [*sent, *every_fetch(0, 7, 20)]
        yield Case(f"batches in {codec.name} that shrink", asks)
        asks = [produce(3, batch(BIG, codec=codec))] * 4
        sizes = (0, 1, 99, 4000, 9000)
        limits = [fetch(v, 3, max_bytes=size) for v in range(5) for size in sizes]
        yield Case(f"limits with {codec.name}", [*asks, *limits])
    many = [produce(3, batch([Record(0, T, None, b"x" * n)])) for n in range(30)]
    yield Case("small batches that grow", [*many, *every_fetch(0, 11)])
    zstd = batch(codec=Codec.ZSTD)
    mixed = [produce(7, batch()), produce(7, zstd), produce(7, batch())]
    yield Case("zstd between others", [*mixed, *every_fetch(0, 4, 8), fetch(9, 4), fetch(10, 4)])
    yield Case("out of range", [produce(2, message_set(1)), *every_fetch(9)])
    yield Case("the end", [produce(2, message_set(1)), *every_fetch(4)])
    yield Case("no such topic", [fetch(v, topic="nowhere") for v in range(5)])


def _converted_by_topic() -> Iterator[Case]:
    off = {"message.downconversion.enable": "false"}
    yield Case("conversion off", [produce(2, message_set(1)), *every_fetch(0, 9)], off)
    for kind in ("uncompressed", "gzip", "snappy", "lz4", "zstd"):
        config = {"compression.type": kind}
        for magic in (0, 1):
            for codec in (Codec.NONE, Codec.GZIP):
                asks = [produce(2, message_set(magic, codec)), *every_fetch(0), fetch(9), fetch(10)]
                yield Case(f"magic {magic} in {codec.name} to {kind}", asks, config)
        for codec in (Codec.NONE, Codec.LZ4):
            asks = [produce(3, batch(codec=codec)), *every_fetch(0), fetch(10)]
            yield Case(f"a batch in {codec.name} to {kind}", asks, config)
    late = {"message.timestamp.type": "LogAppendTime"}
    for magic in (0, 1):
        for codec in (Codec.NONE, Codec.GZIP):
            asks = [produce(2, message_set(magic, codec)), *every_fetch(0)]
            yield Case(f"append times of magic {magic} in {codec.name}", asks, late)
    yield Case("append times", [produce(8, batch()), *every_fetch(0)], late)
    yield Case("append times, compressed", [produce(8, batch(codec=Codec.GZIP)), fetch(3)], late)
    small = {"max.message.bytes": "120"}
    grown = [Record(at, T, None, b"x") for at in range(7)]
    yield Case("too large", [produce(v, message_set(1)) for v in (0, 2)], small)
    yield Case("too large as a batch", [produce(2, message_set(0, records=grown))], small)
    yield Case("a batch that is too large", [produce(v, batch()) for v in (3, 5, 8)], small)
    plain = {"max.message.bytes": "200", "compression.type": "uncompressed"}
    zeros = [Record(0, T, None, bytes(1000))]
    asks = [produce(8, batch(zeros, codec=Codec.GZIP))]
    yield Case("too large once it is not compressed", asks, plain)


def _refused_sets() -> Iterator[Case]:
    one = [RECORDS[0]]
    yield Case("mixed magic", [produce(2, message_set(0) + message_set(1)), fetch(3)])
    yield Case("magic 1 then 2", [produce(2, message_set(1) + batch())])
    yield Case("magic 2 then 1", [produce(2, batch() + message_set(1))])
    yield Case("two batches in Produce 2", [produce(2, batch() + batch())])
    two = message_set(1, Codec.GZIP) + message_set(1)
    yield Case("a wrapper and others", [produce(2, two)])
    yield Case("others and a wrapper", [produce(2, message_set(1) + message_set(1, Codec.GZIP))])
    yield Case("a wrong checksum", [produce(2, flipped(message_set(1), -1))])
    yield Case("an undefined magic", [produce(2, altered(message_set(1), 16, ">B", 3))])
    yield Case("a size of 3", [produce(2, struct.pack(">qi", 0, 3) + bytes(30))])
    yield Case("a wrong checksum within", [produce(2, wrapper(1, flipped(message_set(1), -1)))])
    nested = wrapper(1, message_set(1, Codec.GZIP))
    yield Case("a wrapper within a wrapper", [produce(2, nested)])
    yield Case("another magic within", [produce(v, wrapper(1, message_set(0))) for v in (0, 2)])
    yield Case("magic 1 within magic 0", [produce(2, wrapper(0, message_set(1)))])
    yield Case("an empty wrapper", [produce(2, wrapper(1, b""))])
    null = altered(encode_message_set([Record(0, T, None, None)], 1), 17, ">B", 1)
    yield Case("a wrapper of null", [produce(2, null)])
    yield Case("a wrapper in zstd", [produce(2, wrapper(1, message_set(1), codec=4))])
    low = [record._replace(offset=record.offset + 5) for record in RECORDS]
    inner = encode_message_set(low, 1)
    yield Case("a wrapper with too low an offset", [produce(2, wrapper(1, inner, offset=3))])
    compact = {"cleanup.policy": "compact"}
    for codec in (Codec.NONE, Codec.GZIP):
        asks = [produce(v, message_set(1, codec)) for v in (0, 2)]
        yield Case(f"no key in {codec.name}", asks, compact)
    times = {"message.timestamp.before.max.ms": "1000"}
    old = [record._replace(timestamp_ms=LONG_AGO) for record in one]
    yield Case("old times", [produce(2, message_set(1, records=old))], times)
    yield Case("no times are not old", [produce(2, message_set(0)), fetch(2)], times)
    for kind in ("CreateTime", "LogAppendTime"):
        config = {"message.timestamp.type": kind}
        stamped = encode_message_set(one, 1, append_time_ms=T)
        yield Case(f"a client's append time, {kind}", [produce(2, stamped), fetch(3)], config)
    yield Case("unknown topic", [produce(v, message_set(1), topic="nowhere") for v in range(3)])


def _refused_batches() -> Iterator[Case]:
    yield Case("magic 1 in Produce 3", [produce(v, message_set(1)) for v in (3, 8)])
    yield Case("two batches", [produce(v, batch() + batch()) for v in (3, 8)])
    yield Case("a wrong checksum of a batch", [produce(v, flipped(batch(), -1)) for v in (3, 8)])
    yield Case("a base offset", [produce(8, struct.pack(">q", 5) + batch()[8:])])
    yield Case("a count of 0", [produce(8, rewritten(batch(), AT["count"], ">i", 0))])
    yield Case("too high a count", [produce(8, rewritten(batch(), AT["count"], ">i", 5))])
    yield Case("no offsets", [produce(8, rewritten(batch(), AT["last_delta"], ">i", -1))])
    more = rewritten(rewritten(batch(), AT["count"], ">i", 5), AT["last_delta"], ">i", 4)
    yield Case("a record too few", [produce(8, more)])
    fewer = rewritten(rewritten(batch(), AT["count"], ">i", 3), AT["last_delta"], ">i", 2)
    yield Case("a record too many", [produce(8, fewer)])
    control = batch(flags=BatchFlag.CONTROL)
    yield Case("a control batch", [produce(v, control) for v in (2, 8)])
    no_sequence = batch(producer_id=4711, producer_epoch=0)
    yield Case("no sequence", [produce(8, no_sequence)])
    for version in (2, 8):
        transactional = batch(
            flags=BatchFlag.TRANSACTIONAL, producer_id=4711, producer_epoch=0, base_sequence=0
        )
        yield Case(f"a transaction in Produce {version}", [produce(version, transactional)])
    yield Case("zstd in Produce 6", [produce(6, batch(codec=Codec.ZSTD))])
    gaps = batch(OUT_OF_ORDER, codec=Codec.GZIP)
    gaps = rewritten(gaps, AT["last_delta"], ">i", 3)
    yield Case("offsets out of order, compressed", [produce(8, gaps)])
    plain = rewritten(batch(OUT_OF_ORDER), AT["last_delta"], ">i", 3)
    yield Case("offsets out of order", [produce(8, plain), *every_fetch(0)])
    for kind in ("uncompressed", "lz4"):
        config = {"compression.type": kind}
        asks = [produce(8, plain if kind == "lz4" else gaps), *every_fetch(0)]
        yield Case(f"offsets out of order, made {kind}", asks, config)
    undefined = rewritten(batch(), AT["attributes"], ">h", 5)
    old = wrapper(1, message_set(1), codec=5)
    yield Case("an undefined codec", [produce(8, undefined), produce(2, old)])
    broken = rewritten(batch(), AT["attributes"], ">h", Codec.GZIP)
    no_gzip = wrapper(1, message_set(1), codec=Codec.LZ4)
    yield Case("broken gzip", [produce(8, broken), produce(2, no_gzip)])
    early = [RECORDS[0]._replace(timestamp_ms=-2)]
    yield Case("a time before 1970", [produce(2, message_set(1, records=early))])
    yield Case("a batch with a time before 1970", [produce(8, batch(early)), *every_fetch(0)])
    yield Case("bad acks", [produce(8, batch(), acks=5)])
    yield Case("no batch", [produce(8, b"")])
    long = {"segment.bytes": "1000", "max.message.bytes": "5000"}
    large = batch([Record(0, T, None, bytes(2000))])
    yield Case("longer than a segment", [produce(8, large)], long)


def _faulty_records() -> Iterator[Case]:
    compact = {"cleanup.policy": "compact"}
    keyless = [record._replace(key=None) for record in RECORDS]
    for codec in (Codec.NONE, Codec.GZIP):
        asks = [produce(v, batch(codec=codec)) for v in (3, 7, 8)]
        yield Case(f"a batch without a key in {codec.name}", asks, compact)
        asks = [produce(8, batch(keyless, codec=codec)), produce(8, batch(_in_order(KEYED)))]
        yield Case(f"a batch without any key in {codec.name}", asks, compact)
    times = {"message.timestamp.before.max.ms": "1000", "message.timestamp.after.max.ms": "9000"}
    stamps = (LONG_AGO, -1, 9_000_000_000_000, LONG_AGO)
    wrong = [RECORDS[at]._replace(timestamp_ms=stamp) for at, stamp in enumerate(stamps)]
    for codec in (Codec.NONE, Codec.GZIP):
        yield Case(f"times in {codec.name}", [produce(8, batch(wrong, codec=codec))], times)
        both = [produce(8, batch(wrong, codec=codec))]
        yield Case(f"keys and times in {codec.name}", both, {**times, **compact})
    for kind in ("CreateTime", "LogAppendTime"):
        for codec in (Codec.NONE, Codec.LZ4):
            config = {"message.timestamp.type": kind}
            stamped = batch(codec=codec, flags=BatchFlag.LOG_APPEND_TIME, max_timestamp=T + 9)
            asks = [produce(8, stamped), *every_fetch(0)]
            yield Case(f"append times of a client in {codec.name}, {kind}", asks, config)


def _in_order(records: list[Record]) -> list[Record]:
    return [record._replace(offset=at) for at, record in enumerate(records)]


# Answers, and how they are compared

Send = Callable[[int, int, bytes], bytes]


def topic_name(index: int) -> str:
    """The topic of the case at an index; all names are equally long."""
    return f"t{index:03d}"


def play(case: Case, topic: str, send: Send) -> list[bytes]:
    """Bodies of the answers to a case, in order; b"" where the connection was closed instead."""
    return [send(_key(ask.body), ask.version, _encoded(ask, topic)) for ask in case.asks]


def _encoded(ask: Ask, topic: str) -> bytes:
    # The name is three letters long in a case, and unlike anything else in a request.
    body = encode(ask.body, ask.version)
    return body.replace(struct.pack(">h", 3) + b"old", struct.pack(">h", 4) + topic.encode(), 1)


def differences(case: Case, ours: list[bytes], theirs: list[bytes]) -> dict[int, tuple[str, str]]:
    """Answers that differ and should not, or should and do not, by the ask's index."""
    pairs = list(zip(readable(case, ours), readable(case, theirs), strict=True))
    differing = {index for index, (one, other) in enumerate(pairs) if one != other}
    return {index: pairs[index] for index in differing ^ set(DEVIATIONS.get(case.name, ()))}


def _key(body: Message) -> int:
    key = type(body).__schema__.key
    assert key is not None
    return key


def store(answers: dict[str, list[bytes]]) -> None:
    lines = [
        json.dumps({"case": name, "answers": [_packed(answer) for answer in bodies]})
        for name, bodies in answers.items()
    ]
    VECTORS.write_text("\n".join(lines) + "\n")


def stored() -> dict[str, list[bytes]]:
    lines = (json.loads(line) for line in VECTORS.read_text().splitlines())
    return {line["case"]: [_unpacked(each) for each in line["answers"]] for line in lines}


def _packed(answer: bytes) -> str:
    return base64.b64encode(zlib.compress(answer, 9)).decode()


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def readable(case: Case, answers: list[bytes]) -> list[str]:
    """The answers as text, without what two right answers may differ in.

    That is: what a codec's library makes of the same bytes, and with it sizes and checksums of
    compressed entries; the time of day; and who leads, which nobody asked about here.
    """
    return [_readable(case, ask, answer) for ask, answer in zip(case.asks, answers, strict=True)]


def _readable(case: Case, ask: Ask, answer: bytes) -> str:
    if not answer:
        return "closed"
    key = ApiKey(_key(ask.body))
    asked, answered = request_type(key), response_type(key)
    assert asked is not None
    assert answered is not None
    assert isinstance(ask.body, asked)
    response = decode(answered, ask.version, memoryview(answer))
    text = repr(response)
    if isinstance(response, FetchResponse):
        for topic in response.responses:
            for partition in topic.partitions:
                records = bytes_of(partition.records or b"")
                partition.records = None
                text = f"{response!r} {_content(records)}"
    return _without_times(case, text)


def _content(data: bytes) -> str:
    """What lies in a fetched run of batches; bytes themselves where they cannot differ."""
    view = memoryview(data)
    shown, end, exact = [], 0, True
    for position, header in iterate_batches(view):
        check_crc(view, position, header)
        end = position + header.size
        exact = exact and not header.is_compressed
        if header.is_compressed:
            records = list(iterate_records(view, position, header, LIMIT_BYTES))
            shown.append(f"{_comparable(header)} {records}")
        else:
            shown.append(data[position:end].hex())
    rest = data[end:]
    # Where compressed entries came before, the space that is left for the rest differs.
    shown.append(f"{len(data)} {rest.hex()}" if exact else rest[:8].hex())
    return "\n".join(shown)


def _comparable(header: BatchHeader) -> BatchHeader:
    return header._replace(batch_length=0, crc=0)


def _without_times(case: Case, text: str) -> str:
    """Bounds of allowed times, and append times: what the clock of each broker said."""
    text = re.sub(r"\bt\d{3}\b", TOPIC, text)
    text = re.sub(r"within \[-?\d+, -?\d+\]", "within [...]", text)
    if case.config.get("message.timestamp.type") == "LogAppendTime":
        text = re.sub(r"(log_append_time_ms|timestamp(?:_ms)?)=\d{13}", r"\1=now", text)
        text = re.sub(r"\b[0-9a-f]{40,}\b", "stamped", text)
    return text


# Answers that differ from Kafka's on purpose, by case: the indexes of the asks.
DEVIATIONS: dict[str, list[int]] = {
    # INVALID_RECORD, where Kafka trips over records that it skipped the values of.
    "offsets out of order, compressed": [0],
    # INVALID_RECORD, where Kafka stores what consumers then see twice or never.
    "offsets out of order": [0, 1, 2, 3, 4, 5],
    # UNSUPPORTED_COMPRESSION_TYPE and CORRUPT_MESSAGE, where Kafka answers UNKNOWN_SERVER_ERROR.
    "an undefined codec": [0, 1],
    "broken gzip": [0, 1],
    # INVALID_TIMESTAMP, where Kafka answers UNKNOWN_SERVER_ERROR.
    "a time before 1970": [0],
    # Converted as it is, where Kafka answers UNKNOWN_SERVER_ERROR.
    "a batch with a time before 1970": [1, 2, 3, 4],
}
