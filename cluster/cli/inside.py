"""``fault disk|clock|starve|slow-start|limit|flip-bit``: what is broken inside a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.members import Target
from logquake.cluster.cli.options import DEFAULT_NAME, DataDir, Name, cluster_of
from logquake.cluster.cli.standing import For, until
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.cluster.running.fault import Fault

LogDir = Annotated[
    int | None, typer.Option(help="Which of its log directories, from 1 on. [default: all]")
]
Pattern = Annotated[
    str, typer.Option(help="A pattern of paths, or of their ends: 'orders-0/*.log'.")
]
FilePattern = Annotated[
    str, typer.Argument(help="A pattern of paths, or of their ends: 'orders-0/*.log'.")
]

disk = typer.Typer(help="Break a broker's disk.", no_args_is_help=True)
clock = typer.Typer(help="Let a broker's wall clock be wrong.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(disk, name="disk")
    app.add_typer(clock, name="clock")
    app.command()(starve)
    app.command()(slow_start)
    app.command()(limit)
    app.command()(flip_bit)
    app.command()(power_loss)


@disk.command()
def full(
    target: Target,
    log_dir: LogDir = None,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Writes and new files fail with ENOSPC."""
    with cluster_of(name, data_dir) as cluster:
        _report(
            cluster.disk_full(target, log_dir=log_dir, **until(for_)),
            "its disk is full",
        )


@disk.command()
def slow(
    target: Target,
    ms: Annotated[float, typer.Argument(help="What every write and sync takes more.")],
    path: Pattern = "*",
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Writes and syncs take longer."""
    with cluster_of(name, data_dir) as cluster:
        _report(
            cluster.slow_disk(target, ms, path=path, **until(for_)),
            "its disk is slow",
        )


@disk.command()
def error(
    target: Target,
    call: Annotated[
        str,
        typer.Option(
            help="open, read, list, create, mkdir, write, truncate, rename, remove, "
            "sync or sync_dir."
        ),
    ] = "write",
    nth: Annotated[
        int | None, typer.Option(help="The nth such call from now, alone. [default: every one]")
    ] = None,
    path: Pattern = "*",
    errno: Annotated[str, typer.Option(help="EIO, ENOSPC, EMFILE, ...")] = "EIO",
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """A call fails."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.disk_error(target, call, nth=nth, path=path, error=errno, **until(for_))
        _report(fault, f"{call} will fail with {errno}")


@disk.command()
def torn_write(
    target: Target,
    path: Pattern = "*.log",
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """The next write ends half-way, and the broker with it, as by kill -9."""
    with cluster_of(name, data_dir) as cluster:
        _report(
            cluster.torn_write(target, path=path, **until(for_)),
            "its next write will tear",
        )


@disk.command()
def read_only(
    target: Target,
    log_dir: LogDir = None,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Whatever would change something fails with EROFS."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.read_only_disk(target, log_dir=log_dir, **until(for_))
        _report(fault, "its disk is read-only")


@disk.command()
def lost(
    target: Target,
    log_dir: Annotated[int, typer.Option(help="Which one, from 1 on.")] = 1,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Whatever is asked of a log directory fails with EIO."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.lose_log_dir(target, log_dir, **until(for_))
        _report(fault, f"log directory {log_dir} is lost")


@disk.command()
def lose_files(
    target: Target, path: FilePattern, name: Name = DEFAULT_NAME, data_dir: DataDir = None
) -> None:
    """Files are gone."""
    with cluster_of(name, data_dir) as cluster:
        _report(cluster.lose_files(target, path), f"{path} is lost")


@disk.command()
def lose_segment(
    target: Target,
    topic: str,
    partition: int,
    offset: int,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """The segment that has an offset is gone, from one broker."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.lose_segment(target, topic, partition, offset)
        _report(fault, f"the segment of {topic}-{partition} with offset {offset} is lost")


@disk.command()
def cut_file(
    target: Target,
    path: FilePattern,
    to_bytes: Annotated[int | None, typer.Option(help="[default: half of it]")] = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """A file is cut short, the last that matches."""
    with cluster_of(name, data_dir) as cluster:
        _report(cluster.cut_file(target, path, to_bytes=to_bytes), f"{path} is cut short")


@clock.command()
def skew(
    target: Target,
    ms: Annotated[int, typer.Option(help="So far ahead; behind, below 0.")] = 0,
    drift_ppm: Annotated[float, typer.Option(help="And so many millionths too fast.")] = 0,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """It is wrong by so much, or ever more."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.clock_skew(target, ms, drift_ppm=drift_ppm, **until(for_))
        _report(fault, "its clock is wrong")


@clock.command()
def jump(
    target: Target,
    ms: Annotated[int, typer.Option(help="How far; backwards, below 0.")],
    every_ms: Annotated[int, typer.Option(help="How long until it jumps back, or again.")] = 1000,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """It jumps to and fro."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.clock_jump(target, ms, every_ms=every_ms, **until(for_))
        _report(fault, "its clock jumps")


def starve(
    target: Target,
    share: Annotated[float, typer.Option(help="Of the time, above 0 and below 1.")],
    seed: Annotated[int, typer.Option(help="Of the slices' lengths.")] = 0,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Stop a process for a share of the time, in slices."""
    with cluster_of(name, data_dir) as cluster:
        _report(cluster.starve(target, share, seed=seed, **until(for_)), "it starves")


def slow_start(
    target: Target,
    ms: int,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Let a broker's starts take longer."""
    with cluster_of(name, data_dir) as cluster:
        _report(cluster.slow_start(target, ms, **until(for_)), "it will start slowly")


def limit(
    target: Target,
    memory_bytes: Annotated[int | None, typer.Option(help="Of address space.")] = None,
    files: Annotated[int | None, typer.Option(help="Open files and sockets.")] = None,
    for_: For = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Limit what a broker's process may have."""
    if memory_bytes is None and files is None:
        raise ClusterError("limit what? --memory-bytes or --files")
    with cluster_of(name, data_dir) as cluster:
        if memory_bytes is not None:
            _report(
                cluster.memory_limit(target, memory_bytes, **until(for_)),
                f"{memory_bytes} bytes are its limit",
            )
        if files is not None:
            _report(
                cluster.file_limit(target, files, **until(for_)), f"{files} files are its limit"
            )


def flip_bit(
    target: Target,
    topic: str,
    partition: int,
    offset: int,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Flip a bit of the batch that holds an offset, in one broker's file."""
    with cluster_of(name, data_dir) as cluster:
        fault = cluster.flip_bit(target, topic, partition, offset)
        _report(fault, f"a bit of {topic}-{partition} at offset {offset} is wrong")


def power_loss(
    targets: Annotated[
        list[str] | None, typer.Argument(help="As of kill; several. [default: all brokers]")
    ] = None,
    unsynced: Annotated[
        str, typer.Option(help="What was not synced is lost, or journaled or scattered.")
    ] = "lost",
    seed: Annotated[int, typer.Option(help="Of what is left, if not all is lost.")] = 0,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Kill brokers, all at once, and take back what they had not synced; start ends it."""
    with cluster_of(name, data_dir) as cluster:
        lost = cluster.power_loss(*targets or (), unsynced=unsynced, seed=seed)
        for member, one in lost.taken_back.items():
            print(f"{member}: {one.files} files, {one.bytes} bytes, {one.names} names taken back")


def _report(fault: Fault, what: str) -> None:
    print(f"{fault.member}: {what}")
