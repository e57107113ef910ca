"""Kafka's text form of a UUID: 22 characters of unpadded base64url.

Inside the program a UUID is its 16 raw bytes, as on the wire.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64encode
from random import Random
from uuid import UUID

ZERO_UUID = bytes(16)
_TO_STANDARD_ALPHABET = bytes.maketrans(b"-_", b"+/")


def random_uuid(random: Random) -> bytes:
    """A UUID of version 4 whose text does not begin with '-', as Kafka's Uuid.randomUuid.

    A command line would take such a text for an option.
    """
    while True:
        uuid = UUID(bytes=random.randbytes(16), version=4).bytes
        if not encode_uuid(uuid).startswith("-"):
            return uuid


def encode_uuid(uuid: bytes) -> str:
    """The text of 16 raw bytes, as in ZooKeeper's JSON and partition.metadata."""
    if len(uuid) != 16:
        raise ValueError(f"a UUID has 16 bytes, not {len(uuid)}")
    return urlsafe_b64encode(uuid)[:22].decode("ascii")


def decode_uuid(text: str) -> bytes:
    """The 16 raw bytes of a text; ValueError where it is not a UUID's canonical text."""
    try:
        standard = text.encode("ascii").translate(_TO_STANDARD_ALPHABET)
        uuid = binascii.a2b_base64(standard + b"==", strict_mode=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(f"not a base64 UUID: {text!r}") from error
    if len(uuid) != 16 or encode_uuid(uuid) != text:
        raise ValueError(f"not a base64 UUID: {text!r}")
    return uuid
