"""What can be done to a request or to its answer, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.interception import Way
from logquake.wire.errors import ErrorCode

#: How long a request waits for another that is to overtake it.
OVERTAKING_MS = 1_000

REQUEST, RESPONSE = "request", "response"
_WAYS = {REQUEST: Way.REQUESTS, RESPONSE: Way.RESPONSES}
_WAY_NAMES = {way: name for name, way in _WAYS.items()}


def way_named(name: str) -> Way:
    """Raises ClusterError."""
    if name not in _WAYS:
        raise ClusterError(f"{name!r}: request or response")
    return _WAYS[name]


def error_named(name: str) -> ErrorCode:
    """Raises ClusterError, also for NONE: an answer that is made up says that something failed."""
    if name not in ErrorCode.__members__ or name == ErrorCode.NONE.name:
        raise ClusterError(f"{name!r} is no error of Kafka's: NOT_LEADER_OR_FOLLOWER, say")
    return ErrorCode[name]


def way_name(way: Way) -> str:
    return _WAY_NAMES[way]


@dataclass(frozen=True, slots=True)
class Fail:
    """Answered with an error in the broker's stead, which does not hear of the request."""

    error: ErrorCode

    def __str__(self) -> str:
        return f"fails with {self.error.name}"


@dataclass(frozen=True, slots=True)
class Delay:
    """Goes on so much later, and all behind it on its connection too."""

    ms: float
    way: Way = Way.REQUESTS

    def __post_init__(self) -> None:
        if self.ms < 0:
            raise ClusterError(f"a delay of {self.ms:g} ms: of 0 or more")

    def __str__(self) -> str:
        return f"{way_name(self.way)} delayed {self.ms:g} ms"


@dataclass(frozen=True, slots=True)
class Drop:
    """Never arrives, nor does what follows it that way on its connection: as in a network that
    went silent. A client would take an answer out of order for a broken broker.
    """

    way: Way = Way.REQUESTS

    def __str__(self) -> str:
        return f"{way_name(self.way)} dropped"


@dataclass(frozen=True, slots=True)
class Close:
    """In its place the connection is reset, at both ends."""

    way: Way = Way.REQUESTS

    def __str__(self) -> str:
        return f"connection reset in place of the {way_name(self.way)}"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Reaches the broker twice; of its two answers the client gets the first."""

    def __str__(self) -> str:
        return "request duplicated"


@dataclass(frozen=True, slots=True)
class Reorder:
    """The next request of the same API overtakes it, if one comes in time on its connection.

    The client gets the answers in the order of its requests, as Kafka's clients want them.
    """

    within_ms: float = OVERTAKING_MS

    def __str__(self) -> str:
        return "request overtaken by the next"


@dataclass(frozen=True, slots=True)
class Hold:
    """Stays where it is until the fault is healed, with all behind it on its connection."""

    way: Way = Way.REQUESTS

    def __str__(self) -> str:
        return f"{way_name(self.way)} held"


@dataclass(frozen=True, slots=True)
class Notice:
    """Goes on, and is told of; of answers, where an ``error`` is named, those that have it."""

    way: Way = Way.REQUESTS
    error: ErrorCode | None = None

    def __str__(self) -> str:
        answered = "" if self.error is None else f" of {self.error.name}"
        return f"{way_name(self.way)}{answered} noticed"


Action: TypeAlias = Fail | Delay | Drop | Close | Duplicate | Reorder | Hold | Notice

_KINDS: Mapping[str, type[Action]] = {
    "fail": Fail,
    "delay": Delay,
    "drop": Drop,
    "close": Close,
    "duplicate": Duplicate,
    "reorder": Reorder,
    "hold": Hold,
    "notice": Notice,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def one_action(
    *,
    error: str | None = None,
    delay_ms: float | None = None,
    drop: str | None = None,
    close: str | None = None,
    duplicate: bool = False,
    reorder: bool = False,
    hold: bool = False,
    notice: bool = False,
    answered: str | None = None,
    of: str = REQUEST,
) -> Action:
    """The one that is asked for. Raises ClusterError for none and for several."""
    chosen: list[Action] = []
    if error is not None:
        chosen.append(Fail(error_named(error)))
    if delay_ms is not None:
        chosen.append(Delay(delay_ms, way_named(of)))
    if drop is not None:
        chosen.append(Drop(way_named(drop)))
    if close is not None:
        chosen.append(Close(way_named(close)))
    if duplicate:
        chosen.append(Duplicate())
    if reorder:
        chosen.append(Reorder())
    if hold:
        chosen.append(Hold(way_named(of)))
    if notice:
        chosen.append(Notice(way_named(of)))
    if answered is not None:
        chosen.append(Notice(Way.RESPONSES, error_named(answered)))
    if len(chosen) != 1:
        raise ClusterError(
            "say one of error, delay_ms, drop, close, duplicate, reorder, hold, notice and answered"
        )
    return chosen[0]


def way_of(action: Action) -> Way:
    """What of a request it is done to: itself, or its answer."""
    return getattr(action, "way", Way.REQUESTS)


def action_to_json(action: Action) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": _NAMES[type(action)]}
    for name in type(action).__dataclass_fields__:
        value = getattr(action, name)
        if isinstance(value, Way):
            value = way_name(value)
        document[name] = value.name if isinstance(value, ErrorCode) else value
    return document


def action_from_json(document: Mapping[str, Any]) -> Action:
    """Raises ClusterError."""
    values = dict(document)
    try:
        kind = _KINDS[values.pop("kind")]
        if "way" in values:
            values["way"] = way_named(values["way"])
        if values.get("error") is not None:
            values["error"] = error_named(values["error"])
        return kind(**values)
    except (KeyError, TypeError) as error:
        raise ClusterError(f"nothing that is done to a request: {dict(document)}") from error
