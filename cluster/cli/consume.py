"""``consume``: records go to standard output."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import router_to
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name, Quiet
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.client.cursor import ReadOptions
    from logquake.client.offset_resets import ResetGoal
    from logquake.client.routing import Router
    from logquake.cluster.cli.record_format import Write
    from logquake.cluster.cli.record_output import RecordOutput
    from logquake.wire.topic_partition import TopicPartition

# A turn of a leader that has nothing: the others wait so long.
IDLE_WAIT_MS = 100


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
    json: Annotated[bool, typer.Option("-J", "--json", help="A line of JSON each.")] = False,
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
    from logquake.cluster.cli.progress import Progress
    from logquake.cluster.cli.record_format import as_json, formatted
    from logquake.cluster.cli.record_output import RecordOutput

    if group and partition:
        raise ClusterError("a group's members are given their partitions: no --partition with it")
    write: Write = as_json if json else formatted(template)
    begin = beginning(offset)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a member leaves its group then too
    with (
        router_to(bootstrap, name, data_dir) as router,
        Progress(f"read from {', '.join(topics)}", quiet=quiet) as progress,
    ):
        output = RecordOutput(sys.stdout.buffer, write, count, progress)
        options = _options(read_committed=read_committed)
        try:
            if group:
                _as_member(router, group, topics, begin, options, output, to_end=exit_at_end)
            else:
                places = _places(router, topics, partition)
                _alone(router, places, begin, options, output, to_end=exit_at_end)
        except KeyboardInterrupt:
            pass  # how one ends it
        except BrokenPipeError:
            _forget_output()


def beginning(text: str) -> ResetGoal:
    """Raises ClusterError."""
    from logquake.client.offset_resets import ShiftBy, ToEarliest, ToLatest, ToOffset, ToTime
    from logquake.cluster.cli.times import moment_ms

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


def _options(*, read_committed: bool) -> ReadOptions:
    from logquake.client.consumer.settings import Isolation
    from logquake.client.cursor import ReadOptions

    isolation = Isolation.READ_COMMITTED if read_committed else Isolation.READ_UNCOMMITTED
    return ReadOptions(isolation=isolation, fetch_max_wait_ms=IDLE_WAIT_MS)


def _places(router: Router, topics: list[str], named: list[int] | None) -> list[TopicPartition]:
    from logquake.client.topics import Admin
    from logquake.wire.topic_partition import TopicPartition

    places = []
    for topic in Admin(router).describe_topics(topics):
        existing = [each.index for each in topic.partitions]
        for partition in named or existing:
            if partition not in existing:
                raise ClusterError(
                    f"{topic.name} has no partition {partition}: it has {len(existing)}"
                )
            places.append(TopicPartition(topic.name, partition))
    return places


def _alone(
    router: Router,
    places: list[TopicPartition],
    begin: ResetGoal,
    options: ReadOptions,
    output: RecordOutput,
    *,
    to_end: bool,
) -> None:
    from logquake.cluster.cli.consuming import read_on, tail_from

    read_on(tail_from(router, places, begin, options, to_end=to_end), output)


def _as_member(
    router: Router,
    group: str,
    topics: list[str],
    begin: ResetGoal,
    options: ReadOptions,
    output: RecordOutput,
    *,
    to_end: bool,
) -> None:
    from logquake.client.topics import Admin
    from logquake.cluster.cli.consuming import GroupReading

    Admin(router).describe_topics(topics)  # one that is missing is told before anybody joins
    GroupReading(router, group, topics, begin, options, to_end=to_end).run(output)


def _forget_output() -> None:
    """Python would fail at its end, flushing to a reader that is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
