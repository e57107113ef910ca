"""``topic config`` and ``configs``: what is set, and changes of it while the brokers run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import admin_to
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.client.admin import ConfigEntry, ConfigResource
    from logquake.cluster.observing.tables import Rows

ALL = "all"
# By the name of the ConfigSource.
_SET_BY = {
    "DYNAMIC_TOPIC_CONFIG": "topic",
    "DYNAMIC_BROKER_CONFIG": "broker",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "all_brokers",
    "STATIC_BROKER_CONFIG": "properties",
    "DEFAULT_CONFIG": "default",
}

Assignments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY=VALUE]...", help="Keys to set; with none it shows what is set."),
]
Unset = Annotated[
    list[str] | None,
    typer.Option("-d", "--delete", metavar="KEY", help="A key to unset; repeatable."),
]
Everything = Annotated[
    bool, typer.Option("-a", "--all", help="Show defaults and server.properties too.")
]


def topic_config(
    topic: str,
    settings: Assignments = None,
    delete: Unset = None,
    everything: Everything = False,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Show what a topic is set to, or set and unset some of it."""
    from logquake.client.admin import ConfigResource, ConfigResourceType

    target = ConfigResource(ConfigResourceType.TOPIC, topic)
    _carry_out(target, settings, delete, everything, bootstrap, name, data_dir)


def configs(
    broker: Annotated[str, typer.Argument(help="A broker's id, or `all`: the default of all.")],
    settings: Assignments = None,
    delete: Unset = None,
    everything: Everything = False,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Show what a broker, or all of them, are set to while they run, or change some of it."""
    _carry_out(_brokers(broker), settings, delete, everything, bootstrap, name, data_dir)


def _brokers(named: str) -> ConfigResource:
    from logquake.client.admin import ConfigResource, ConfigResourceType

    if named != ALL and not named.isdecimal():
        raise ClusterError(f"{named!r} is no broker: write its id, or {ALL}")
    return ConfigResource(ConfigResourceType.BROKER, "" if named == ALL else str(int(named)))


def _carry_out(
    target: ConfigResource,
    settings: list[str] | None,
    delete: list[str] | None,
    everything: bool,
    bootstrap: str | None,
    name: str,
    data_dir: Path | None,
) -> None:
    from logquake.client.admin import AlterConfigOp, OpType
    from logquake.cluster.observing.set_configs import was_set_at_run_time
    from logquake.cluster.spec import parse_assignments

    changes = [AlterConfigOp(*each) for each in sorted(parse_assignments(settings or []).items())]
    changes += [AlterConfigOp(key, None, OpType.DELETE) for key in sorted(delete or [])]
    with admin_to(bootstrap, name, data_dir) as admin:
        if changes:
            admin.incremental_alter_configs({target: changes})[target].result()
        else:
            found = admin.describe_configs([target])[target].result()
            entries = [entry for _, entry in sorted(found.items())]
            _show([each for each in entries if everything or was_set_at_run_time(each)])


def _show(entries: list[ConfigEntry]) -> None:
    from logquake.cluster.cli.output import print_table

    rows: Rows = [
        (each.name, _shown(each), _SET_BY.get(each.source.name, "unknown")) for each in entries
    ]
    print_table(("key", "value", "set by"), rows)


def _shown(entry: ConfigEntry) -> str:
    if entry.is_sensitive:
        return "(hidden)"
    return "-" if entry.value is None else entry.value
