"""``fault expire-session|delete-controller``: what ZooKeeper says of brokers is taken back."""

from __future__ import annotations

from typing import Annotated

import typer

from logquake.cluster.cli.members import Target
from logquake.cluster.cli.options import DEFAULT_NAME, DataDir, Name, cluster_of

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Until all is as before.")]


def add_to(app: typer.Typer) -> None:
    app.command()(expire_session)
    app.command()(delete_controller)


def expire_session(
    target: Target, wait: Wait = True, name: Name = DEFAULT_NAME, data_dir: DataDir = None
) -> None:
    """Let ZooKeeper end a broker's session; the broker registers anew."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.expire_session(target)
        print(f"the session of {fault.member} has ended")
        fault.heal(wait=wait)


def delete_controller(
    wait: Wait = True, name: Name = DEFAULT_NAME, data_dir: DataDir = None
) -> None:
    """Delete /controller; another controller is elected, or the same one again."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.delete_controller()
        print(f"{fault.member} is controller no longer")
        fault.heal(wait=wait)
