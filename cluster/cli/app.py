"""The tree of commands, and what becomes of an error."""

from __future__ import annotations

import sys

import typer

from logquake.cluster.cli import (
    brokers,
    configs,
    consume,
    faults,
    groups,
    lifecycle,
    log_files,
    logs,
    members,
    produce,
    request_faults,
    topics,
)
from logquake.cluster.errors import ClusterError

FAILED = 2

app = typer.Typer(
    help="A real Kafka cluster in Python: launch it, break it on purpose, learn from it.",
    no_args_is_help=True,
    rich_markup_mode=None,  # rich would double the time that help takes
    pretty_exceptions_enable=False,
)
app.command()(lifecycle.up)
app.command()(lifecycle.status)
app.command()(lifecycle.down)
app.command()(members.kill)
app.command()(members.stop)
app.command()(members.pause)
app.command()(members.resume)
app.command()(members.start)
app.command()(members.restart)
faults.app.command()(request_faults.error)
faults.app.command()(request_faults.request)
app.add_typer(faults.app, name="fault")
app.command()(logs.logs)
app.command()(lifecycle.env)
app.add_typer(topics.app, name="topic")
app.command()(configs.configs)
app.command()(produce.produce)
app.command()(consume.consume)
app.add_typer(groups.app, name="group")
app.add_typer(log_files.app, name="log")
app.add_typer(brokers.app, name="broker")


def main() -> None:
    try:
        app()
    except ClusterError as error:
        print(f"logquake: {error}", file=sys.stderr)
        sys.exit(FAILED)
