"""Options that several commands share, and what they mean."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout, default_root

if TYPE_CHECKING:
    from logquake.cluster.running.cluster import RunningCluster

DEFAULT_NAME = "default"

Name = Annotated[str, typer.Option(help="Which cluster; its state is in ~/.logquake/NAME.")]
DataDir = Annotated[
    Path | None, typer.Option(help="Where its state is, instead of ~/.logquake/NAME.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("-c", "--config", metavar="KEY=VALUE", help="A setting of Kafka's; repeatable."),
]
Wait = Annotated[str, typer.Option(metavar="TIME", help="How long to wait until it is ready.")]
Bootstrap = Annotated[
    str | None,
    typer.Option("-b", "--bootstrap-server", help="Brokers to ask, instead of those of NAME."),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No count on standard error.")]
Output = Annotated[str, typer.Option("-o", "--output", metavar="table|json")]


def layout_of(name: str, data_dir: Path | None) -> Layout:
    return Layout((data_dir or default_root(name)).absolute())


def cluster_of(name: str, data_dir: Path | None) -> closing[RunningCluster]:
    """For the length of a block: what it was asked by goes too, its session with ZooKeeper say."""
    from logquake.cluster.running.cluster import RunningCluster

    return closing(RunningCluster(layout_of(name, data_dir)))


def wants_json(output: str) -> bool:
    """Raises ClusterError."""
    if output not in ("table", "json"):
        raise ClusterError(f"no output {output!r}: choose table or json")
    return output == "json"
