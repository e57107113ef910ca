"""What a program gives a client, looked at in the program's own call.

What no request could name would else come up later, for whoever asks about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from operator import index

from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.wire.topic_partition import TopicPartition

_MAX_TEXT_BYTES = 32_767  # in any request; brokers bound topics' names far below that
_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1


def check_text(value: object, what: str, *, is_secret: bool = False) -> None:
    """What is secret is in no error. Raises TypeError and ValueError."""
    shown = "(hidden)" if is_secret else f"{value!r:.100}"
    if not isinstance(value, str):
        raise TypeError(f"{what}: {shown} is no str")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{what}: {shown} has a character that UTF-8 has not") from None
    if size > _MAX_TEXT_BYTES:
        raise ValueError(f"{what}: {shown} has more than {_MAX_TEXT_BYTES} bytes")


def check_topic(name: object) -> None:
    """Raises TypeError and ValueError."""
    check_text(name, "topic")


def check_topics(names: Collection[str]) -> None:
    """Raises TypeError and ValueError; a text is no collection of topics."""
    if isinstance(names, str):
        raise ValueError(f"topics are to be a list of names, and not {names!r:.100}")
    for name in names:
        check_topic(name)
        if not name or name.isspace():
            raise ValueError(f"topics are to be a list of names, and not {names!r:.100}")


def check_pattern(pattern: re.Pattern[str]) -> None:
    """Of topics' names. Raises TypeError and ValueError."""
    if not isinstance(pattern.pattern, str):
        raise TypeError(f"pattern {pattern.pattern!r:.100} is of bytes: topics' names are text")
    if not pattern.pattern:
        raise ValueError("a pattern to subscribe to cannot be empty")


def check_place(place: object) -> None:
    """Raises TypeError and ValueError."""
    if not isinstance(place, TopicPartition):
        raise TypeError(f"{place!r:.100} is no TopicPartition")
    check_topics([place.topic])
    if not 0 <= index(place.partition) <= _MAX_INT:
        raise ValueError(f"partition {place.partition}: partitions are 0 to 2^31 - 1")


def check_places(places: Iterable[object]) -> None:
    """Raises TypeError and ValueError."""
    for place in places:
        check_place(place)


def check_offset(wanted: object) -> None:
    """Raises TypeError and ValueError."""
    if not isinstance(wanted, OffsetAndMetadata):
        raise TypeError(f"{wanted!r:.100} is no OffsetAndMetadata")
    if not 0 <= index(wanted.offset) <= _MAX_LONG:
        raise ValueError(f"offset {wanted.offset}: offsets are 0 to 2^63 - 1")
    if not -1 <= index(wanted.leader_epoch) <= _MAX_INT:
        raise ValueError(f"leader_epoch {wanted.leader_epoch}: epochs are -1 to 2^31 - 1")
    check_text(wanted.metadata, "metadata")


def check_offsets(offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
    """Raises TypeError and ValueError."""
    for place, wanted in offsets.items():
        check_place(place)
        check_offset(wanted)


def check_group(group: object) -> None:
    """Raises TypeError and ValueError."""
    if not isinstance(group, ConsumerGroupMetadata):
        raise TypeError(f"{group!r:.100} is no ConsumerGroupMetadata")
    for name in (group.group_id, group.member_id, group.instance_id or ""):
        check_text(name, "name")
    if not -1 <= index(group.generation_id) <= _MAX_INT:
        raise ValueError(f"generation {group.generation_id}: generations are -1 to 2^31 - 1")


def check_times(times_ms: Mapping[TopicPartition, int]) -> None:
    """Raises TypeError and ValueError."""
    for place, time_ms in times_ms.items():
        check_place(place)
        if not 0 <= index(time_ms) <= _MAX_LONG:
            raise ValueError(f"time {time_ms} of {place}: times are 0 to 2^63 - 1")
