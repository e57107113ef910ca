"""``consume``: records go to standard output."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import config_to
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name, Quiet
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.client import Consumer
    from logquake.cluster.cli.record_format import Write
    from logquake.cluster.cli.record_output import RecordOutput
    from logquake.cluster.observing.offset_resets import ResetGoal
    from logquake.wire.topic_partition import TopicPartition

AT_ONCE = 10_000  # max.poll.records


def consume(
    topics: list[str],
    offset: Annotated[
        str,
        typer.Option(
            "-o",
            "--offset",
            metavar="beginning|end|N|-N|@TIME",
            help="Where to begin; -N: the last N of each partition; @2026-01-31T12:00.",
        ),
    ] = "beginning",
    partition: Annotated[
        list[int] | None, typer.Option("-p", "--partition", help="Repeatable. [default: all]")
    ] = None,
    count: Annotated[
        int | None, typer.Option("-c", "-n", "--count", help="End after so many.", min=1)
    ] = None,
    exit_at_end: Annotated[
        bool, typer.Option("-e", "--exit", help="End where the logs end now.")
    ] = False,
    template: Annotated[
        str, typer.Option("-f", "--format", metavar="FORMAT", help="kcat's, as in '%k=%s\\n'.")
    ] = "%s\\n",
    json: Annotated[
        bool,
        typer.Option(
            "-J", "--json", help="A line of JSON each; what is no UTF-8 in base64 besides."
        ),
    ] = False,
    group: Annotated[
        str | None, typer.Option("-g", "--group", help="Read as a member, and commit.")
    ] = None,
    read_committed: Annotated[
        bool, typer.Option("--read-committed", help="Nothing of aborted or open transactions.")
    ] = False,
    quiet: Quiet = False,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Write the records of topics to standard output, and go on as more come, until Ctrl-C."""
    from logquake.client import Consumer
    from logquake.cluster.cli.progress import Progress
    from logquake.cluster.cli.record_format import as_json, formatted
    from logquake.cluster.cli.record_output import RecordOutput
    from logquake.cluster.cli.unanswered import saying_if_unanswered

    if group and partition:
        raise ClusterError("a group's members are given their partitions: no --partition with it")
    write: Write = as_json if json else formatted(template)
    begin = beginning(offset)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a member leaves its group then too
    with (
        config_to(bootstrap, name, data_dir) as config,
        Consumer({**config, **_keys(group, read_committed=read_committed)}) as consumer,
        Progress(f"read from {', '.join(topics)}", quiet=quiet) as progress,
    ):
        output = RecordOutput(sys.stdout.buffer, write, count, progress)
        try:
            with saying_if_unanswered():
                places = _places(consumer, topics, partition)
            _read(consumer, places, group, begin, output, to_end=exit_at_end)
        except KeyboardInterrupt:
            pass  # how one ends it
        except BrokenPipeError:
            _forget_output()


def beginning(text: str) -> ResetGoal:
    """Raises ClusterError."""
    from logquake.cluster.cli.times import moment_ms
    from logquake.cluster.observing.offset_resets import (
        ShiftBy,
        ToEarliest,
        ToLatest,
        ToOffset,
        ToTime,
    )

    match text:
        case "beginning" | "earliest" | "start":
            return ToEarliest()
        case "end" | "latest":
            return ToLatest()
    if text.startswith("@"):
        return ToTime(moment_ms(text[1:]))
    if text.removeprefix("-").isdecimal():
        return ShiftBy(int(text)) if text.startswith("-") else ToOffset(int(text))
    raise ClusterError(f"{text!r} is no place to begin: write beginning, end, N, -N or @TIME")


def _keys(group: str | None, *, read_committed: bool) -> dict[str, object]:
    """Where to begin, and what to commit, is this program's own affair."""
    return {
        "group.id": group,
        "enable.auto.commit": False,
        "auto.offset.reset": "none",
        "allow.auto.create.topics": False,
        "isolation.level": "read_committed" if read_committed else "read_uncommitted",
        "max.poll.records": AT_ONCE,
    }


def _places(consumer: Consumer, topics: list[str], named: list[int] | None) -> list[TopicPartition]:
    """Raises ClusterError, and BrokerError for a topic that is not there."""
    from logquake.client.errors import broker_error
    from logquake.wire.errors import ErrorCode
    from logquake.wire.topic_partition import TopicPartition

    places = []
    for topic in topics:
        existing = sorted(each.partition for each in consumer.partitions_for(topic))
        if not existing:
            raise broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {topic}")
        for partition in named or existing:
            if partition not in existing:
                raise ClusterError(f"{topic} has no partition {partition}: it has {len(existing)}")
            places.append(TopicPartition(topic, partition))
    return places


def _read(
    consumer: Consumer,
    places: list[TopicPartition],
    group: str | None,
    begin: ResetGoal,
    output: RecordOutput,
    *,
    to_end: bool,
) -> None:
    """As a member of the topics of these places, or alone."""
    from logquake.cluster.cli.consuming import GroupReading, Reading, read_alone

    reading = Reading(consumer, output, begin, to_end=to_end)
    if group:
        topics = list(dict.fromkeys(place.topic for place in places))
        GroupReading(consumer, reading, output, group).run(topics)
    else:
        read_alone(consumer, reading, places)


def _forget_output() -> None:
    """Python would fail at its end, flushing to a reader that is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
