"""The whole tree of commands: the launcher's, and the harness's."""

from __future__ import annotations

from logquake.chaos.cli import commands
from logquake.cluster.cli.app import app
from logquake.cluster.cli.app import main as run_app

app.add_typer(commands.app, name="chaos")


def main() -> None:
    run_app()
