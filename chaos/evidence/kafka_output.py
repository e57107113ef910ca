"""What Apache Kafka's broker prints, as rows of a journal: that it took an office or gave it up,
asked for a smaller ISR and got it, cut its log, or found it damaged.

Kafka keeps no journal. Its log lines are for people, and change with its versions; these are 3.9's
(kafka.cluster.Partition, kafka.controller.KafkaController, kafka.log.UnifiedLog and LogLoader), by
the time that they were printed, in UTC.

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
_REPAIR = re.compile(
    r"\[LogLoader partition=(\S+), dir=(.*)\] Corruption found in segment \d+, "
    r"truncating to offset (\d+) .*"
)
_SHRINK = re.compile(r"\[Partition (\S+) broker=\d+\] Shrinking ISR from ([\d,]+) to ([\d,]+)\. .*")
_NEW_ISR = re.compile(r"\[Partition (\S+) broker=\d+\] ISR updated to ([\d,]+) .*")
_RESIGNED = re.compile(r"\[Controller id=\d+\] Resigned .*")
_ISR_UPDATED = "isr-updated"

Fields = dict[str, str | int | list[int]]


def journal_of(broker_id: int, lines: Iterable[str]) -> Iterator[Row]:
    """In their order. What tells nothing of interest is left out."""
    for sequence, (time, fields) in enumerate(_answered(_told_in(lines)), 1):
        yield Row(
            at_us=_microseconds(time),
            process=f"broker-{broker_id}",
            sequence=sequence,
            why="printed by Apache Kafka",
            **fields,  # type: ignore[arg-type]
        )


def _told_in(lines: Iterable[str]) -> Iterator[tuple[str, Fields]]:
    """With their times."""
    for line in lines:
        said = _LINE.fullmatch(line.rstrip("\n"))
        fields = None if said is None else _told(said[2])
        if said is not None and fields is not None:
            yield said[1], fields


def _answered(told: Iterable[tuple[str, Fields]]) -> Iterator[tuple[str, Fields]]:
    """An ISR that is another now is told as smaller, where it was asked for as that."""
    asked: dict[object, object] = {}
    for time, fields in told:
        if fields["what"] == "isr-proposed":
            asked[fields["subject"]] = fields["after"]
        elif fields["what"] == _ISR_UPDATED:
            if asked.pop(fields["subject"], None) != fields["after"]:
                continue
            fields["what"] = "isr-shrunk"
        yield time, fields


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


def _repair(found: re.Match[str]) -> Fields:
    """Of the log's directory, as our brokers tell it."""
    return {"what": "log-repaired", "subject": f"{found[2]}/{found[1]}", "after": int(found[3])}


def _shrink(found: re.Match[str]) -> Fields:
    before, after = _brokers(found[2]), _brokers(found[3])
    return {"what": "isr-proposed", "subject": found[1], "before": before, "after": after}


def _new_isr(found: re.Match[str]) -> Fields:
    return {"what": _ISR_UPDATED, "subject": found[1], "after": _brokers(found[2])}


def _brokers(text: str) -> list[int]:
    return sorted(map(int, text.split(",")))


def _resigned(_found: re.Match[str]) -> Fields:
    return {"what": "controller-resigned", "subject": "controller"}


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Fields]], ...] = (
    (_OFFICE, _office),
    (_CUT, _cut("log-truncated")),
    (_RESTART, _cut("log-restarted")),
    (_REPAIR, _repair),
    (_SHRINK, _shrink),
    (_NEW_ISR, _new_isr),
    (_RESIGNED, _resigned),
)


def _microseconds(text: str) -> int:
    moment = datetime.strptime(text, _TIME_FORMAT).replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000) * 1_000
