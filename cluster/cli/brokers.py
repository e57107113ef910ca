"""``broker add|remove|wipe|replace``: who is in a cluster; ``broker FILE``: one by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from logquake.cluster.cli.members import Target, report_serving
from logquake.cluster.cli.options import DEFAULT_NAME, DataDir, Name, Wait, cluster_of
from logquake.cluster.cli.times import seconds
from logquake.cluster.errors import ClusterError


class _OrFile(TyperGroup):
    """What is no command is a file: a broker to be run from it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # of a click within typer
        known = args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["run", *args])


app = typer.Typer(
    cls=_OrFile,
    help="Add, remove, wipe or replace a broker; or run one by hand: broker FILE.",
    no_args_is_help=True,
)


Spare = Annotated[bool, typer.Option("--spare", help="Only once no partition has it in sync.")]


@app.command()
def add(
    broker_id: Annotated[
        int | None, typer.Argument(help="[default: the next one that no broker has had]")
    ] = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    wait: Wait = "30s",
) -> None:
    """One broker more; it gets replicas of topics that are made from now on."""
    with cluster_of(name, data_dir) as cluster:
        added = cluster.add_broker(broker_id, timeout=seconds(wait))
        report_serving(cluster, added.member, wait)


@app.command()
def remove(target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None) -> None:
    """Stop a broker for good; its data goes too."""
    with cluster_of(name, data_dir) as cluster:
        removed = cluster.remove_broker(target)
        print(f"{removed.member} is removed")
        _report_left(removed.member, removed.replicas)


@app.command()
def wipe(
    target: Target,
    spare: Spare = False,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    wait: Wait = "30s",
) -> None:
    """Kill a broker, empty its disk and start it."""
    with cluster_of(name, data_dir) as cluster:
        report_serving(cluster, cluster.wipe(target, spare=spare).member, wait)


@app.command()
def replace(
    target: Target,
    new_id: Annotated[
        bool, typer.Option("--new-id", help="Not under its id: its replicas are nobody's then.")
    ] = False,
    spare: Spare = False,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    wait: Wait = "30s",
) -> None:
    """Put another broker in its place, elsewhere, with an empty disk."""
    with cluster_of(name, data_dir) as cluster:
        report_serving(cluster, cluster.replace(target, new_id=new_id, spare=spare).member, wait)


@app.command(hidden=True)
def run(
    file: Annotated[Path, typer.Argument(help="A server.properties of Kafka's.")],
    events: Annotated[
        Path | None, typer.Option(help="Where its events go. [default: beside FILE]")
    ] = None,
) -> None:
    """Run one broker by hand, here, against any ZooKeeper, until Ctrl-C."""
    from logquake.cluster.processes.broker_program import check_settings, run_broker

    if not file.is_file():
        raise ClusterError(f"{file} is no file: name a server.properties")
    check_settings(file)
    sys.exit(run_broker(file, events or file.with_suffix(".events.jsonl")))


def _report_left(member: str, replicas: tuple[str, ...]) -> None:
    if replicas:
        print(f"{len(replicas)} partitions still have a replica on {member}: {', '.join(replicas)}")
