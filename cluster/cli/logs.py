"""``logs``: the brokers' events and output, merged for reading."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from logquake.cluster.cli.options import DEFAULT_NAME, DataDir, Name, layout_of


def logs(
    broker: Annotated[int | None, typer.Argument(help="A broker id. [default: all]")] = None,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as more comes.")] = False,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Show the brokers' events and output, with the reason of each event."""
    from logquake.cluster.observing.event_log import EventLog

    log = EventLog(layout_of(name, data_dir), broker)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        for line in log.follow() if follow else log.lines():
            print(line, flush=follow)
