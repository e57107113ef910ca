"""Which topic names are legal, and which topics are Kafka's own (org.apache.kafka Topic)."""

from __future__ import annotations

import re

GROUP_METADATA_TOPIC = "__consumer_offsets"
TRANSACTION_STATE_TOPIC = "__transaction_state"
SHARE_GROUP_STATE_TOPIC = "__share_group_state"
_INTERNAL = frozenset({GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC, SHARE_GROUP_STATE_TOPIC})

_MAX_LENGTH = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def is_internal(topic: str) -> bool:
    return topic in _INTERNAL


def is_legal(topic: str) -> bool:
    """Whether Kafka would let a topic of this name be made."""
    return (
        topic not in (".", "..")
        and len(topic) <= _MAX_LENGTH
        and _LEGAL.fullmatch(topic) is not None
    )
