from __future__ import annotations

import pytest

from logquake.wire.errors import ProtocolError
from logquake.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    TransactionLogKey,
)
from logquake.wire.versioned import (
    decode_offsets_key,
    decode_transaction_key,
    decode_versioned,
    encode_versioned,
)


def test_the_version_stands_in_front() -> None:
    written = encode_versioned(OffsetCommitValue(offset=5, metadata="m", commit_timestamp=9), 1)
    assert written.hex() == "0001000000000000000500016d0000000000000009ffffffffffffffff"
    assert decode_versioned(OffsetCommitValue, written).offset == 5


@pytest.mark.parametrize("version", range(5))
def test_a_value_is_read_in_the_version_that_it_says(version: int) -> None:
    offset = OffsetCommitValue(offset=1, metadata="", commit_timestamp=2)
    group = GroupMetadataValue(protocol_type="consumer", generation=3)
    assert decode_versioned(OffsetCommitValue, encode_versioned(offset, version)) == offset
    assert decode_versioned(GroupMetadataValue, encode_versioned(group, version)) == group


def test_a_value_of_a_later_version_is_refused() -> None:
    with pytest.raises(ProtocolError, match="OffsetCommitValue has no version 5"):
        decode_versioned(OffsetCommitValue, b"\x00\x05" + bytes(40))


@pytest.mark.parametrize("version", [0, 1])
def test_the_first_versions_of_a_key_are_of_offsets(version: int) -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=3)
    assert decode_offsets_key(encode_versioned(key, version)) == key


def test_the_version_after_them_is_of_groups() -> None:
    key = GroupMetadataKey(group="g")
    assert decode_offsets_key(encode_versioned(key, 2)) == key


@pytest.mark.parametrize("version", [-1, 3, 8, 999])
def test_a_key_of_an_unknown_kind_is_left_alone(version: int) -> None:
    """3 to 8 are of the next group coordinator (KIP-848), 9 and on of share groups."""
    assert decode_offsets_key(version.to_bytes(2, "big", signed=True) + b"\x00\x01g") is None


def test_a_transactional_id() -> None:
    key = TransactionLogKey(transactional_id="id")
    assert decode_transaction_key(encode_versioned(key, 0)) == key
    assert decode_transaction_key(b"\x00\x01" + bytes(9)) is None


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00", b"\x00\x02\x00\x05g"])
def test_a_key_cut_short_is_a_protocol_error(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_offsets_key(data)


def test_what_a_newer_consumer_says_is_read_as_far_as_it_is_known() -> None:
    said = ConsumerProtocolSubscription(topics=["t"], generation_id=4, rack_id="east")
    newer = b"\x00\x07" + encode_versioned(said, 3)[2:] + b"something appended"
    assert decode_versioned(ConsumerProtocolSubscription, newer, newer_is_newest=True) == said
    with pytest.raises(ProtocolError, match="no version 7"):
        decode_versioned(ConsumerProtocolSubscription, newer)


def test_a_negative_version_is_refused() -> None:
    with pytest.raises(ProtocolError, match="no version -1"):
        decode_versioned(ConsumerProtocolSubscription, b"\xff\xff" + bytes(9), newer_is_newest=True)
