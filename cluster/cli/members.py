"""What is done to one process of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.options import DEFAULT_NAME, DataDir, Name, Wait, cluster_of
from logquake.cluster.cli.times import seconds

if TYPE_CHECKING:
    from logquake.cluster.running.cluster import RunningCluster

Target = Annotated[
    str,
    typer.Argument(
        help="A broker id, controller, leader:TOPIC/PARTITION, follower:TOPIC/PARTITION, "
        "random or zookeeper."
    ),
]


def kill(target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None) -> None:
    """End it with SIGKILL; it stays dead until it is started."""
    with cluster_of(name, data_dir) as cluster:
        print(f"{cluster.kill(target).member} is dead")


def stop(target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None) -> None:
    """Let it move its leaderships away and end."""
    with cluster_of(name, data_dir) as cluster:
        print(f"{cluster.stop(target).member} has ended")


def pause(target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None) -> None:
    """Freeze it with SIGSTOP: a zombie, once its session is over."""
    with cluster_of(name, data_dir) as cluster:
        print(f"{cluster.pause(target).member} is paused")


def resume(
    target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None, wait: Wait = "30s"
) -> None:
    """Let a paused one go on."""
    with cluster_of(name, data_dir) as cluster:
        report_serving(cluster, cluster.resume(target), wait)


def start(
    target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None, wait: Wait = "30s"
) -> None:
    """Start one that has ended."""
    with cluster_of(name, data_dir) as cluster:
        report_serving(cluster, cluster.start(target, timeout=seconds(wait)), wait)


def restart(
    target: Target, name: Name = DEFAULT_NAME, data_dir: DataDir = None, wait: Wait = "30s"
) -> None:
    """Stop it and start it again."""
    with cluster_of(name, data_dir) as cluster:
        report_serving(cluster, cluster.restart(target, timeout=seconds(wait)), wait)


def report_serving(cluster: RunningCluster, member: str, wait: str) -> None:
    cluster.wait_ready(seconds(wait))
    print(f"{member} serves")
