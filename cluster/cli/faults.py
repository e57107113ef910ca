"""``fault``: what is broken beside the processes themselves, and how it is healed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli import coordination, inside
from logquake.cluster.cli.options import (
    DEFAULT_NAME,
    DataDir,
    Name,
    Output,
    cluster_of,
    wants_json,
)
from logquake.cluster.cli.standing import For, until

if TYPE_CHECKING:
    from logquake.cluster.running.fault import Fault

app = typer.Typer(
    help="Break links of a cluster started with --links, disks and clocks of one with --faults; "
    "end sessions of any.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
inside.add_to(app)
coordination.add_to(app)

Source = Annotated[
    str,
    typer.Argument(
        help="Where bytes come from: a broker's id, controller, leader:TOPIC/PARTITION, clients, "
        "zookeeper or zookeeper-1; several with commas."
    ),
]
To = Annotated[str, typer.Argument(metavar="TARGET", help="Where they go: as SOURCE.")]
Both = Annotated[bool, typer.Option("--both", help="And from TARGET to SOURCE.")]


@app.command()
def partition(
    groups: Annotated[str, typer.Argument(help="Who stays together: 1:2,3 cuts 1 off 2 and 3.")],
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Cut all links between groups, both ways."""
    with cluster_of(name, data_dir) as cluster:
        report(cluster.partition(*groups.split(":"), **until(for_)))


@app.command()
def isolate(
    target: Annotated[str, typer.Argument(help="A broker, or several with commas.")],
    clients: Annotated[
        bool, typer.Option("--clients/--no-clients", help="From clients too.")
    ] = True,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Cut it off from all other brokers, ZooKeeper and clients."""
    with cluster_of(name, data_dir) as cluster:
        report(cluster.isolate(target, clients=clients, **until(for_)))


@app.command()
def cut(
    source: Source,
    target: To,
    both: Both = False,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Let bytes stay where they are; new connections get no answer."""
    with cluster_of(name, data_dir) as cluster:
        report(cluster.cut(source, target, both=both, **until(for_)))


@app.command()
def delay(
    source: Source,
    target: To,
    ms: Annotated[float, typer.Option(help="How much later.")],
    jitter_ms: Annotated[float, typer.Option(help="Give or take.")] = 0,
    both: Both = False,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Let bytes arrive later, in order."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.delay(source, target, ms, jitter_ms=jitter_ms, both=both, **until(for_))
        report(fault)


@app.command()
def rate(
    source: Source,
    target: To,
    bytes_per_s: Annotated[float, typer.Option(help="Of each connection.")],
    both: Both = False,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Let only so many bytes pass."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.throttle(source, target, bytes_per_s, both=both, **until(for_))
        report(fault)


@app.command()
def reset(
    source: Source,
    target: To,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Reset all connections between them, and refuse new ones."""
    with cluster_of(name, data_dir) as cluster:
        report(cluster.reset(source, target, **until(for_)))


@app.command()
def drop(
    source: Source,
    target: To,
    after_bytes: Annotated[int, typer.Option(help="That may still pass.")] = 0,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Reset each connection after so many bytes."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.drop_after(source, target, after_bytes, **until(for_))
        report(fault)


@app.command("half-open")
def half_open(
    source: Source,
    target: To,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Do not tell TARGET that SOURCE closed a connection, or died."""
    with cluster_of(name, data_dir) as cluster:
        report(cluster.half_open(source, target, **until(for_)))


@app.command("list")
def list_faults(
    name: Name = DEFAULT_NAME, data_dir: DataDir = None, output: Output = "table"
) -> None:
    """Show the faults that hold."""
    from logquake.cluster.cli.output import print_json, print_table
    from logquake.cluster.observing.tables import FAULT_COLUMNS, fault_rows

    with cluster_of(name, data_dir) as cluster:
        faults = cluster.standing_faults()
        if wants_json(output):
            print_json(faults)
        else:
            print_table(FAULT_COLUMNS, fault_rows(faults))


@app.command()
def heal(
    ids: Annotated[
        list[str] | None, typer.Argument(help="As fault list shows them. [default: all]")
    ] = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Heal faults, whoever began them."""
    with cluster_of(name, data_dir) as cluster:
        if not ids:
            print(f"healed {cluster.heal_standing()}")
        for fault_id in ids or ():
            held = cluster.heal_standing(fault_id)
            print(f"healed {fault_id}" if held else f"{fault_id} held no longer")


def report(fault: Fault) -> None:
    print(f"{fault.member} holds; heal it with logquake fault heal")
