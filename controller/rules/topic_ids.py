"""Topic ids: random UUIDs (version 4, KIP-516) from an injected source."""

from __future__ import annotations

from random import Random
from uuid import UUID

from logquake.wire.uuids import encode_uuid


def random_topic_id(random: Random) -> bytes:
    """16 bytes. As Kafka's Uuid.randomUuid, none whose text begins with '-'.

    Such a text would be taken for an option on a command line.
    """
    while True:
        topic_id = UUID(bytes=random.randbytes(16), version=4).bytes
        if not encode_uuid(topic_id).startswith("-"):
            return topic_id
