"""``topic config`` and ``configs``: what is set, and changes of it while the brokers run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.admin import router_to
from logquake.cluster.cli.options import DEFAULT_NAME, Bootstrap, DataDir, Name
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.client.configs import ConfigEntry, ConfigTarget
    from logquake.cluster.observing.tables import Rows

ALL = "all"

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
    from logquake.client.configs import ConfigTarget

    target = ConfigTarget.topic(topic)
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


def _brokers(named: str) -> ConfigTarget:
    from logquake.client.configs import ConfigTarget

    if named == ALL:
        return ConfigTarget.all_brokers()
    if not named.isdecimal():
        raise ClusterError(f"{named!r} is no broker: write its id, or {ALL}")
    return ConfigTarget.broker(int(named))


def _carry_out(
    target: ConfigTarget,
    settings: list[str] | None,
    delete: list[str] | None,
    everything: bool,
    bootstrap: str | None,
    name: str,
    data_dir: Path | None,
) -> None:
    from logquake.client.configs import Configs
    from logquake.cluster.spec import parse_assignments

    values = parse_assignments(settings or [])
    with router_to(bootstrap, name, data_dir) as router:
        found = Configs(router)
        if values or delete:
            found.alter(target, values, delete or ())
        else:
            entries = found.describe(target)
            _show([each for each in entries if everything or each.was_set_at_run_time])


def _show(entries: list[ConfigEntry]) -> None:
    from logquake.cluster.cli.output import print_table

    rows: Rows = [(each.name, _shown(each), each.source.name.lower()) for each in entries]
    print_table(("key", "value", "set by"), rows)


def _shown(entry: ConfigEntry) -> str:
    if entry.is_secret:
        return "(hidden)"
    return "-" if entry.value is None else entry.value
