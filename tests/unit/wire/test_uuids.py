from __future__ import annotations

from random import Random

import pytest

from logquake.wire.uuids import ZERO_UUID, decode_uuid, encode_uuid, random_uuid


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (ZERO_UUID, "AAAAAAAAAAAAAAAAAAAAAA"),
        (b"\xff" * 16, "_____________________w"),
        (bytes.fromhex("fbefbe00000000000000000000000001"), "----AAAAAAAAAAAAAAAAAQ"),
    ],
)
def test_text_is_urlsafe_and_unpadded(raw: bytes, text: str) -> None:
    assert encode_uuid(raw) == text
    assert decode_uuid(text) == raw


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAA",
        "AAAAAAAAAAAAAAAAAAAAAA==",
        "AAAAAAAAAAAAAAAAAAAAAB",  # bits beyond the sixteenth byte
        "++++AAAAAAAAAAAAAAAAAQ",  # the other base64 alphabet
        "AAAAAAAAAAA AAAAAAAAAA",
        "é" * 22,
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a base64 UUID"):
        decode_uuid(text)


def test_other_lengths_have_no_text() -> None:
    with pytest.raises(ValueError, match="16 bytes, not 15"):
        encode_uuid(bytes(15))


def test_random_uuids_are_such_that_no_command_line_misreads() -> None:
    random = Random(1)
    uuids = {random_uuid(random) for _ in range(500)}
    assert len(uuids) == 500
    assert all(len(each) == 16 and each[6] >> 4 == 4 for each in uuids)
    assert not any(encode_uuid(each).startswith("-") for each in uuids)
