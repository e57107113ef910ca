"""``topic create``, ``topic list``, ``topic describe``; ``topic config`` is in configs.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import router_to
from logquake.cluster.cli.configs import topic_config
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name, Settings
from logquake.wire.sentinels import NO_REPLICATION_FACTOR

if TYPE_CHECKING:
    from logquake.client.topics import Admin

app = typer.Typer(help="Topics.", no_args_is_help=True, rich_markup_mode=None)
app.command("config")(topic_config)


@app.command()
def create(
    topic: str,
    partitions: Annotated[int, typer.Option("-p", "--partitions")] = 1,
    replicas: Annotated[
        int, typer.Option("-r", "--replicas", help="-1: default.replication.factor.")
    ] = NO_REPLICATION_FACTOR,
    config: Settings = None,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Create a topic and wait until its partitions have leaders."""
    from logquake.cluster.spec import parse_assignments

    with _admin(bootstrap, name, data_dir) as admin:
        admin.create_topic(
            topic,
            partitions=partitions,
            replication_factor=replicas,
            configs=parse_assignments(config or []),
        )


@app.command("list")
def list_topics(
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show Kafka's own too.")] = False,
) -> None:
    """List the topics' names."""
    with _admin(bootstrap, name, data_dir) as admin:
        for topic in admin.list_topics(include_internal=internal):
            print(topic)


@app.command()
def describe(
    topics: Annotated[list[str] | None, typer.Argument()] = None,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Show the partitions of some topics, or of all."""
    from logquake.cluster.cli.output import print_table

    with _admin(bootstrap, name, data_dir) as admin:
        found = admin.describe_topics(topics or None)
    print_table(
        ("topic", "partition", "leader", "epoch", "replicas", "isr", "offline"),
        [
            (
                topic.name,
                str(one.index),
                str(one.leader),
                str(one.leader_epoch),
                *(",".join(map(str, ids)) or "-" for ids in (one.replicas, one.isr, one.offline)),
            )
            for topic in found
            for one in topic.partitions
        ],
    )


@contextmanager
def _admin(bootstrap: str | None, name: str, data_dir: Path | None) -> Iterator[Admin]:
    """Raises ClusterError for whatever the client meets."""
    from logquake.client.topics import Admin

    with router_to(bootstrap, name, data_dir) as router:
        yield Admin(router)
