"""What is fed with damaged bytes, and what must hold: a value, or the one error of its kind.

A target makes valid bytes of something, and reads any bytes as that. Reading tells whether they
were taken; anything but the allowed error is a failure. What a message decoder took, it must be
able to write, and to read again as the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import crc32c

from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.actions import Fail
from logquake.cluster.links.requests.conversation import Conversation
from logquake.cluster.links.requests.effects import Forward
from logquake.cluster.links.requests.rules import RequestFault, RuleBook
from logquake.cluster.links.requests.watching import Watches, Witness
from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode, ProtocolError, RecordError
from logquake.wire.header import RequestHeader, decode_request_header, encode_request
from logquake.wire.records import (
    Codec,
    ControlType,
    ProduceLimits,
    Record,
    encode_batch,
    encode_end_marker,
    encode_message_set,
    iterate_batches,
    iterate_records,
    read_end_marker,
    validate_produced,
)
from logquake.wire.schema import Message, decode, encode
from logquake.wire.versioned import decode_offsets_key, decode_transaction_key
from tests.fuzz.batches import damaged_batch
from tests.parts import joined
from tests.wire.samples import ONCE, Samples
from tests.wire.tables import MESSAGE_TYPES, PAIRS

BUDGET_BYTES = 1 << 18  # what decoded objects may take: more than any valid bytes here need
NOW_MS = 1_700_000_000_000
CRC_END = 21  # in the header of a batch; the checksum covers what follows
CODECS = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    valid: Callable[[Random], bytes]
    read: Callable[[bytes], bool]


def message_target(cls: type[Message], version: int) -> Target:
    """One message in one version."""

    def valid(random: Random) -> bytes:
        samples = Samples(random.random())
        return encode(samples.message(cls, version, random.choice(ONCE)), version)

    return Target(f"{cls.__name__}-{version}", valid, lambda data: read_message(cls, version, data))


def read_message(cls: type[Message], version: int, data: bytes) -> bool:
    try:
        message = decode(cls, version, memoryview(data), max_decoded_bytes=BUDGET_BYTES)
    except ProtocolError:
        return False
    written = encode(message, version)
    assert encode(decode(cls, version, written), version) == written
    return True


def valid_request(random: Random) -> bytes:
    key = random.choice(list(ApiKey))
    cls = request_type(key)
    assert cls is not None
    version = random.choice(list(cls.__schema__.versions))
    body = Samples(random.random()).message(cls, version, random.choice(ONCE))
    header = RequestHeader(key, version, 7, random.choice((None, "", "client")))
    return joined(encode_request(header, body))[4:]


def read_request(data: bytes) -> bool:
    try:
        header, start = decode_request_header(memoryview(data))
    except ProtocolError:
        return False
    cls = request_type(header.api_key)
    assert cls is not None
    return read_message(cls, header.api_version, data[start:])


def read_keys(data: bytes) -> bool:
    taken = True
    for read in (decode_offsets_key, decode_transaction_key):
        try:
            read(data)
        except ProtocolError:
            taken = False
    return taken


def valid_batches(random: Random) -> bytes:
    if random.random() < 0.1:
        return bytes(
            encode_end_marker(
                random.choice(list(ControlType)),
                coordinator_epoch=3,
                producer_id=7,
                producer_epoch=1,
                timestamp_ms=NOW_MS,
            )
        )
    records = [
        Record(offset, NOW_MS + offset, b"key", random.randbytes(random.randrange(60)))
        for offset in range(random.randint(1, 5))
    ]
    codec = random.choice(CODECS)
    if random.random() < 0.3 and codec is not Codec.ZSTD:  # which message sets never had
        return bytes(encode_message_set(records, random.choice((0, 1)), codec=codec))
    return bytes(encode_batch(records, codec=codec)) * random.choice((1, 2))


def read_batches(data: bytes) -> bool:
    view = memoryview(bytearray(data))
    try:
        for position, header in iterate_batches(view):
            list(iterate_records(view, position, header, BUDGET_BYTES))
            if header.is_control:
                read_end_marker(view, position, header)
            elif header.magic == 2:
                validate_produced(view, position, header, ProduceLimits(), NOW_MS)
    except RecordError:
        return False
    return True


def read_checksummed(data: bytes) -> bool:
    """As a batch of magic 2 whose writer checksummed just these bytes."""
    batch = bytearray(data)
    if len(batch) > CRC_END:
        batch[CRC_END - 4 : CRC_END] = crc32c.crc32c(bytes(batch[CRC_END:])).to_bytes(4, "big")
    return read_batches(bytes(batch))


def refuse_on_the_way(data: bytes) -> bool:
    """As a frame of its length on a link where every request is refused; whether it was."""
    book = RuleBook()
    for number, key in enumerate(ApiKey):
        book.begin(number, RequestFault(key, Fail(ErrorCode.NOT_CONTROLLER)))
    witness = Witness(Watches(lambda: 0), "clients", "broker-1")
    conversation = Conversation("clients", "broker-1", book, witness)
    framed = len(data).to_bytes(4, "big") + data
    effects = conversation.receive(Way.REQUESTS, framed, 0)
    passed_on = [each for each in effects if isinstance(each, Forward) and each.data == framed]
    assert len(effects) >= 1
    return not passed_on


TARGETS = {
    target.name: target
    for target in (
        *(message_target(MESSAGE_TYPES[name], version) for name, version in sorted(PAIRS)),
        Target("request", valid_request, read_request),
        Target("refused request", valid_request, refuse_on_the_way),
        Target("key", lambda random: random.randbytes(random.randrange(30)), read_keys),
        Target("batches", valid_batches, read_batches),
        Target("checksummed batches", valid_batches, read_checksummed),
        Target("odd batches", lambda random: damaged_batch(random, NOW_MS), read_checksummed),
    )
}
