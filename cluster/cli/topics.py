"""``topic create``, ``topic list``, ``topic describe``; ``topic config`` is in configs.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import CHANGE_MS, admin_to
from logquake.cluster.cli.configs import topic_config
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name, Settings
from logquake.wire.sentinels import NO_REPLICATION_FACTOR

if TYPE_CHECKING:
    from logquake.client.admin import TopicPartitionInfo
    from logquake.client.network.effects import Node

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
    from logquake.client.admin import NewTopic
    from logquake.cluster.spec import parse_assignments

    wanted = NewTopic(topic, partitions, replicas, configs=parse_assignments(config or []))
    with admin_to(bootstrap, name, data_dir, CHANGE_MS) as admin:
        admin.create_topics([wanted])[topic].result()


@app.command("list")
def list_topics(
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show Kafka's own too.")] = False,
) -> None:
    """List the topics' names."""
    with admin_to(bootstrap, name, data_dir) as admin:
        for topic in sorted(admin.list_topics(list_internal=internal).result()):
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

    with admin_to(bootstrap, name, data_dir) as admin:
        named = topics or admin.list_topics(list_internal=True).result()
        found = [each.result() for each in admin.describe_topics(sorted(named)).values()]
    print_table(
        ("topic", "partition", "leader", "epoch", "replicas", "isr", "offline"),
        [(topic.name, *_shown(one)) for topic in found for one in topic.partitions],
    )


def _shown(one: TopicPartitionInfo) -> tuple[str, ...]:
    leader = "none" if one.leader is None else str(one.leader.id)
    replicas = (_ids(nodes) for nodes in (one.replicas, one.isr, one.offline))
    return (str(one.partition), leader, str(one.leader_epoch), *replicas)


def _ids(nodes: tuple[Node, ...]) -> str:
    return ",".join(str(node.id) for node in nodes) or "-"
