"""Checks of what a program passes to a client, made in the program's own call.

A value that no request can carry would otherwise fail later, in whatever encodes the request.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from inspect import CO_COROUTINE
from numbers import Real
from operator import index
from typing import cast

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
    if not isinstance(names, Collection):
        raise TypeError(f"topics are to be a list of names, and not {names!r:.100}")
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
    if not 0 <= check_whole(place.partition, f"partition of {place.topic}") <= _MAX_INT:
        raise ValueError(f"partition {place.partition}: partitions are 0 to 2^31 - 1")


def check_places(places: Collection[object]) -> None:
    """Raises TypeError and ValueError; one alone is no collection of them."""
    if not isinstance(places, Collection) or isinstance(places, TopicPartition | str):
        raise TypeError(f"places are to be a list of TopicPartitions, and not {places!r:.100}")
    for place in places:
        check_place(place)


def check_offset(wanted: object, is_not: str = "no OffsetAndMetadata") -> None:
    """``is_not`` says what was wanted. Raises TypeError and ValueError."""
    if not isinstance(wanted, OffsetAndMetadata):
        raise TypeError(f"{wanted!r:.100} is {is_not}")
    if not 0 <= check_whole(wanted.offset, "offset") <= _MAX_LONG:
        raise ValueError(f"offset {wanted.offset}: offsets are 0 to 2^63 - 1")
    if not -1 <= check_whole(wanted.leader_epoch, "leader_epoch") <= _MAX_INT:
        raise ValueError(f"leader_epoch {wanted.leader_epoch}: epochs are -1 to 2^31 - 1")
    check_text(wanted.metadata, "metadata")


def check_offsets(offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
    """Raises TypeError and ValueError."""
    _check_mapping(offsets, "offsets", "OffsetAndMetadata")
    for place, wanted in offsets.items():
        check_place(place)
        check_offset(wanted)


def _check_mapping(given: object, what: str, of: str) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}: {given!r:.100} is no mapping of TopicPartition to {of}")


def check_whole(value: object, what: str) -> int:
    """As the number that it is. Raises TypeError."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what}: {value!r:.100} is no whole number") from None


def check_time(given: object, what: str = "timeout_ms") -> None:
    """How long a call may take; what is below 0 is over at once. Raises TypeError and ValueError,
    for what is no number at all too: a deadline of that is never over.
    """
    if not isinstance(given, Real):
        raise TypeError(f"{what}: {given!r:.100} is no number")
    if not -_MAX_LONG <= cast("float", given) <= _MAX_LONG:
        raise ValueError(f"{what}: {given!r:.100} is no time that will be over")


def check_time_or_none(given: object, what: str = "timeout_ms") -> None:
    """None is for ever, or the default. Raises TypeError and ValueError."""
    if given is not None:
        check_time(given, what)


def check_callable(function: object, what: str) -> None:
    """None is nobody, who hears nothing. Raises TypeError."""
    if function is not None and not callable(function):
        raise TypeError(f"{what}: {function!r:.100} cannot be called")


def check_callback(function: object, what: str) -> None:
    """One that is called, and that nobody awaits; None is nobody. Raises TypeError."""
    check_callable(function, what)
    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & CO_COROUTINE:
        raise TypeError(f"{what}: {function!r:.100} is a coroutine's function: nobody awaits it")


def check_listener(listener: object) -> None:
    """None is nobody. Raises TypeError."""
    methods = ("on_assigned", "on_revoked", "on_lost")
    if listener is None:
        return
    lacks = [each for each in methods if not callable(getattr(listener, each, None))]
    if lacks or isinstance(listener, type):
        why = f"it has no {' and no '.join(lacks)}" if lacks else "it is a class, and no object"
        raise TypeError(f"listener: {listener!r:.100} is no RebalanceListener: {why}")


def check_group(group: object) -> None:
    """Raises TypeError and ValueError."""
    if not isinstance(group, ConsumerGroupMetadata):
        raise TypeError(f"{group!r:.100} is no ConsumerGroupMetadata")
    for name in (group.group_id, group.member_id, group.instance_id or ""):
        check_text(name, "name")
    if not -1 <= check_whole(group.generation_id, "generation_id") <= _MAX_INT:
        raise ValueError(f"generation {group.generation_id}: generations are -1 to 2^31 - 1")


def check_times(times_ms: Mapping[TopicPartition, int]) -> None:
    """Raises TypeError and ValueError."""
    _check_mapping(times_ms, "times_ms", "a time")
    for place, time_ms in times_ms.items():
        check_place(place)
        if not 0 <= check_whole(time_ms, f"times_ms[{place}]") <= _MAX_LONG:
            raise ValueError(f"time {time_ms} of {place}: times are 0 to 2^63 - 1")


def headers_of(given: object) -> tuple[tuple[str, bytes | None], ...]:
    """Of a record, as it carries them. Raises TypeError, and ValueError for a key that cannot be
    encoded.
    """
    if isinstance(given, Mapping | str | bytes) or not isinstance(given, Iterable):
        hint = ": list(headers.items()) has them" if isinstance(given, Mapping) else ""
        raise TypeError(f"headers: {given!r:.100} is no list of pairs, a key and bytes{hint}")
    return tuple(map(_header, given))


def _header(given: object) -> tuple[str, bytes | None]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"headers: {given!r:.100} is no pair of a key and bytes")
    key, value = given
    check_text(key, "headers: key")
    if value is None or type(value) is bytes:
        return key, value
    if isinstance(value, bytes | bytearray | memoryview):
        return key, bytes(value)
    raise TypeError(f"headers: {value!r:.100} of {key!r:.100} is no bytes")
