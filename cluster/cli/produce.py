"""``produce``: lines of standard input become records."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import admin_to, config_to
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name, Quiet
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from logquake.client import Admin, Producer
    from logquake.client.producer.delivery import RecordMetadata
    from logquake.cluster.cli.progress import Progress
    from logquake.cluster.cli.record_input import LineFormat

READ_BYTES = 64 * 1024  # at most so much becomes one batch, but for a longer line
INTERRUPTED = 130
_TIME_TO_END_MS = 1_000  # for what has not left yet when somebody interrupts
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
    from logquake.cluster.cli.escapes import unescaped
    from logquake.cluster.cli.progress import Progress
    from logquake.cluster.cli.record_input import LineFormat, parse_headers
    from logquake.cluster.cli.unanswered import saying_if_unanswered

    lines = LineFormat(
        delimiter=unescaped(delimiter) or b"\n",
        key_separator=unescaped(key_separator) if key_separator else None,
        key=None if key is None else key.encode(),
        headers=parse_headers(header or []),
        empty_is_null=null,
    )
    keys = _keys(acks, compression, idempotent=idempotent)
    with admin_to(bootstrap, name, data_dir) as admin, saying_if_unanswered():
        _check(admin, topic, partition)
    with (
        Progress(f"written to {topic}", quiet=quiet) as progress,
        _producer_to(bootstrap, name, data_dir, keys) as producer,
    ):
        try:
            _send_all(producer, topic, partition, lines, progress)
        except KeyboardInterrupt:
            producer.close(_TIME_TO_END_MS)
            raise typer.Exit(INTERRUPTED) from None


def _keys(acks: str, compression: str, *, idempotent: bool) -> dict[str, object]:
    from logquake.cluster.cli.record_input import MAX_RECORD_BYTES, choice
    from logquake.wire.records import Codec

    codecs = {codec.name.lower(): int(codec) for codec in Codec}
    wanted_acks = choice(acks, ACKS, "acks")
    if idempotent and wanted_acks != ACKS["all"]:
        raise ClusterError(f"--idempotent needs --acks all, not {acks}")
    return {
        "acks": wanted_acks,
        "enable.idempotence": idempotent,
        "compression.type": Codec(choice(compression, codecs, "compression")),
        "batch.size": READ_BYTES,
        # What a broker takes is for the broker to say.
        "max.request.size": 2 * MAX_RECORD_BYTES,
        "buffer.memory": 2 * MAX_RECORD_BYTES,
    }


@contextmanager
def _producer_to(
    bootstrap: str | None, name: str, data_dir: Path | None, keys: dict[str, object]
) -> Iterator[Producer]:
    """Raises ClusterError for whatever the client meets."""
    from logquake.client import Producer

    with config_to(bootstrap, name, data_dir) as config, Producer({**config, **keys}) as producer:
        yield producer


def _check(admin: Admin, topic: str, partition: int | None) -> None:
    """Whoever mistypes a topic's name does not want it made."""
    from logquake.cluster.observing.log_offsets import partitions_of

    partitions = [place.partition for place in partitions_of(admin, topic)]
    if partition is not None and partition not in partitions:
        raise ClusterError(f"{topic} has no partition {partition}: it has {len(partitions)}")


def _send_all(
    producer: Producer,
    topic: str,
    partition: int | None,
    lines: LineFormat,
    progress: Progress,
) -> None:
    """Raises the error of the first record that is not written."""
    errors: list[Exception] = []

    def on_delivery(_metadata: RecordMetadata, error: Exception | None) -> None:
        if error is None:
            progress.add(1)
        else:
            errors.append(error)

    for read in _whole_lines(lines.delimiter):
        for line in read:
            key, value, headers = lines.record(line)
            producer.send(
                topic, value, key, partition=partition, headers=headers, on_delivery=on_delivery
            )
        if errors:
            break
    producer.flush()
    if errors:
        raise errors[0]


def _whole_lines(delimiter: bytes) -> Iterator[list[bytes]]:
    """As they come: nobody waits at a terminal until a buffer is full."""
    from logquake.cluster.cli.record_input import Lines

    lines = Lines(delimiter)
    while piece := os.read(sys.stdin.fileno(), READ_BYTES):
        if whole := lines.add(piece):
            yield whole
    if last := lines.end():
        yield last
