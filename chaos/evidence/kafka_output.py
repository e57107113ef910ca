"""What Apache Kafka's broker prints, as rows of a journal: that it took an office, or cut its log.

Kafka keeps no journal. Its log lines are for people, and change with its versions; these are 3.9's
(kafka.cluster.Partition, kafka.log.UnifiedLog), by the time that they were printed, in UTC.

Caveat: a truncation is told with the offset that it goes back to, not with where the log ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from logquake.chaos.history.rows import Row

_TIME_FORMAT = "%Y-%m-%d %H:%M:%S,%f"
_LINE = re.compile(r"\[([-\d]+ [:\d]+,\d{3})\] [A-Z]+ (.*)")
_OFFICE = re.compile(r"\[Broker id=\d+\] (Leader|Follower) (\S+) .*starts at leader epoch (\d+) .*")
_CUT = re.compile(r"\[UnifiedLog partition=(\S+), dir=.*\] Truncating to offset (\d+) .*")
_RESTART = re.compile(
    r"\[UnifiedLog partition=(\S+), dir=.*\] Truncate and start at offset (\d+).*"
)

Fields = dict[str, str | int]


def journal_of(broker_id: int, lines: Iterable[str]) -> Iterator[Row]:
    """In their order. What tells nothing of interest is left out."""
    sequence = 0
    for line in lines:
        said = _LINE.fullmatch(line.rstrip("\n"))
        fields = None if said is None else _told(said[2])
        if said is not None and fields is not None:
            sequence += 1
            yield Row(
                at_us=_microseconds(said[1]),
                process=f"broker-{broker_id}",
                sequence=sequence,
                why="printed by Apache Kafka",
                **fields,  # type: ignore[arg-type]
            )


def _told(text: str) -> Fields | None:
    for pattern, read in _READERS:
        found = pattern.fullmatch(text)
        if found is not None:
            return read(found)
    return None


def _office(found: re.Match[str]) -> Fields:
    return {
        "what": "role-changed",
        "subject": found[2],
        "epoch": int(found[3]),
        "after": found[1].lower(),
    }


def _cut(what: str) -> Callable[[re.Match[str]], Fields]:
    return lambda found: {"what": what, "subject": found[1], "after": int(found[2])}


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Fields]], ...] = (
    (_OFFICE, _office),
    (_CUT, _cut("log-truncated")),
    (_RESTART, _cut("log-restarted")),
)


def _microseconds(text: str) -> int:
    moment = datetime.strptime(text, _TIME_FORMAT).replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000) * 1_000
