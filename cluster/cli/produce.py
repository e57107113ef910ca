"""``produce``: lines of standard input become records."""

from __future__ import annotations

import os
import random
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import router_to
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name, Quiet
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logquake.client.producer import Producer, ProducerSettings
    from logquake.client.routing import Router
    from logquake.cluster.cli.progress import Progress
    from logquake.cluster.cli.record_input import LineFormat, Spread

READ_BYTES = 64 * 1024  # at most so much becomes one batch, but for a longer line
INTERRUPTED = 130
ACKS = {"all": -1, "1": 1, "0": 0}


def produce(
    topic: str,
    key_separator: Annotated[
        str | None, typer.Option("-K", "--key-separator", help="Ends the key in each line.")
    ] = None,
    key: Annotated[str | None, typer.Option("-k", "--key", help="Of lines without one.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("-H", "--header", metavar="NAME=VALUE", help="Of each record; repeatable."),
    ] = None,
    partition: Annotated[
        int | None, typer.Option("-p", "--partition", help="[default: by key]", min=0)
    ] = None,
    acks: Annotated[str, typer.Option("-a", "--acks", metavar="all|1|0")] = "all",
    compression: Annotated[
        str, typer.Option("-z", "--compression", metavar="none|gzip|snappy|lz4|zstd")
    ] = "none",
    idempotent: Annotated[
        bool, typer.Option("--idempotent", help="A retry never writes a record twice.")
    ] = False,
    delimiter: Annotated[
        str, typer.Option("-D", "--delimiter", help="Between records.", show_default=False)
    ] = "\\n",
    null: Annotated[
        bool, typer.Option("-Z", "--null", help="Empty keys and values are NULL.")
    ] = False,
    quiet: Quiet = False,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Write each line of standard input to a topic, until it ends."""
    from logquake.client.producer import Producer
    from logquake.cluster.cli.escapes import unescaped
    from logquake.cluster.cli.progress import Progress
    from logquake.cluster.cli.record_input import LineFormat, parse_headers

    lines = LineFormat(
        delimiter=unescaped(delimiter) or b"\n",
        key_separator=unescaped(key_separator) if key_separator else None,
        key=None if key is None else key.encode(),
        headers=parse_headers(header or []),
        empty_is_null=null,
    )
    settings = _settings(acks, compression, idempotent=idempotent)
    with router_to(bootstrap, name, data_dir) as router:
        spread = _spread(router, topic, partition)
        producer = Producer(router, settings)
        with Progress(f"written to {topic}", quiet=quiet) as progress:
            try:
                _send_all(producer, topic, lines, spread, progress)
            except KeyboardInterrupt:
                raise typer.Exit(INTERRUPTED) from None


def _settings(acks: str, compression: str, *, idempotent: bool) -> ProducerSettings:
    from logquake.client.producer import ProducerSettings
    from logquake.cluster.cli.record_input import choice
    from logquake.wire.records import Codec

    codecs = {codec.name.lower(): int(codec) for codec in Codec}
    wanted_acks = choice(acks, ACKS, "acks")
    if idempotent and wanted_acks != ACKS["all"]:
        raise ClusterError(f"--idempotent needs --acks all, not {acks}")
    return ProducerSettings(
        acks=wanted_acks,
        enable_idempotence=idempotent,
        compression_type=Codec(choice(compression, codecs, "compression")),
    )


def _spread(router: Router, topic: str, partition: int | None) -> Spread:
    from logquake.client.topics import Admin
    from logquake.cluster.cli.record_input import Spread

    (found,) = Admin(router).describe_topics([topic])
    partitions = [each.index for each in found.partitions]
    if partition is not None and partition not in partitions:
        raise ClusterError(f"{topic} has no partition {partition}: it has {len(partitions)}")
    return Spread(partitions, random.randrange(len(partitions)), partition)


def _send_all(
    producer: Producer, topic: str, lines: LineFormat, spread: Spread, progress: Progress
) -> None:
    for read in _whole_lines(lines.delimiter):
        records = [lines.record(line) for line in read]
        for partition, batch in spread.batches(records):
            producer.send(topic, partition, batch)
            progress.add(len(batch))


def _whole_lines(delimiter: bytes) -> Iterator[list[bytes]]:
    """As they come: nobody waits at a terminal until a buffer is full."""
    from logquake.cluster.cli.record_input import Lines

    lines = Lines(delimiter)
    while piece := os.read(sys.stdin.fileno(), READ_BYTES):
        if whole := lines.add(piece):
            yield whole
    if last := lines.end():
        yield last
