"""``group list``, ``group describe``, ``group reset-offsets``, ``group delete``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logquake.cluster.cli.admin import admin_to
from logquake.cluster.cli.options import (
    DEFAULT_NAME,
    Bootstrap,
    DataDir,
    Name,
    Output,
    wants_json,
)
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.client import Admin
    from logquake.cluster.observing.group_progress import PartitionProgress
    from logquake.cluster.observing.groups import Group
    from logquake.cluster.observing.planned_resets import PlannedOffset
    from logquake.cluster.observing.tables import Rows

app = typer.Typer(help="Groups of consumers.", no_args_is_help=True, rich_markup_mode=None)

PROGRESS_COLUMNS = ("topic", "partition", "committed", "log end", "lag", "member", "host")


@app.command("list")
def list_groups(
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    output: Output = "table",
) -> None:
    """List the groups of consumers with their states and coordinators."""
    from logquake.cluster.cli.output import print_json, print_table
    from logquake.cluster.observing.groups import listed_groups
    from logquake.cluster.observing.tables import GROUP_COLUMNS, group_rows

    as_json = wants_json(output)
    with admin_to(bootstrap, name, data_dir) as admin:
        told = admin.list_consumer_groups().result()
    told.all()  # nobody is left out in silence
    found = listed_groups(told)
    if as_json:
        print_json([each._asdict() for each in found])
    else:
        print_table(GROUP_COLUMNS, group_rows(found))


@app.command()
def describe(
    groups: Annotated[list[str] | None, typer.Argument(help="[default: all]")] = None,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
    output: Output = "table",
) -> None:
    """Show members and what each reads: committed offset, end of the log, lag."""
    from logquake.cluster.cli.output import print_json
    from logquake.cluster.observing.group_progress import progress_of

    as_json = wants_json(output)
    with admin_to(bootstrap, name, data_dir) as admin:
        names = groups or sorted(
            each.group_id for each in admin.list_consumer_groups().result().all()
        )
        found = [(group, progress_of(admin, group)) for group in _existing(admin, names)]
    if as_json:
        print_json([_document(*each) for each in found])
        return
    for number, each in enumerate(found):
        print(end="\n" if number else "")
        _show(*each)


@app.command("reset-offsets")
def reset_offsets(
    group: str,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC[:0,1,...]", help="Repeatable. [default: all it committed in]"),
    ] = None,
    to_earliest: Annotated[bool, typer.Option("--to-earliest")] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest")] = False,
    to_offset: Annotated[int | None, typer.Option(min=0)] = None,
    shift_by: Annotated[
        int | None, typer.Option(help="So many records on; back where negative.")
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option(metavar="2h|P1DT2H", help="To what was written since then.")
    ] = None,
    to_datetime: Annotated[
        str | None, typer.Option(metavar="2026-01-31T12:00:00", help="UTC unless it says more.")
    ] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Do it, not only show it.")] = False,
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Show where a group would go on, and with --execute let it; it must have no members."""
    from logquake.cluster.cli.group_resets import goal_of, reset

    goal = goal_of(
        to_earliest=to_earliest,
        to_latest=to_latest,
        to_offset=to_offset,
        shift_by=shift_by,
        by_duration=by_duration,
        to_datetime=to_datetime,
    )
    with admin_to(bootstrap, name, data_dir) as admin:
        plan = reset(admin, group, topic or [], goal, execute=execute)
    _show_plan(plan, executed=execute)


@app.command()
def delete(
    groups: list[str],
    bootstrap: Bootstrap = None,
    name: Name = DEFAULT_NAME,
    data_dir: DataDir = None,
) -> None:
    """Delete groups without members, and their offsets."""
    with admin_to(bootstrap, name, data_dir) as admin:
        for deleted in admin.delete_consumer_groups(groups).values():
            deleted.result()


def _existing(admin: Admin, group_ids: list[str]) -> list[Group]:
    from logquake.cluster.observing.groups import DEAD, described_groups

    found = described_groups(admin, group_ids)
    for group in found:
        if group.state == DEAD:
            raise ClusterError(f"there is no group {group.group_id}: see logquake group list")
    return found


def _show(group: Group, progress: list[PartitionProgress]) -> None:
    from logquake.cluster.cli.output import print_table

    members = f"{len(group.members)} member{'' if len(group.members) == 1 else 's'}"
    facts = [group.state, members, group.protocol, f"coordinator {group.coordinator}"]
    print(f"group {group.group_id}: {', '.join(filter(None, facts))}")
    busy = {each.reader for each in progress}
    rows: Rows = [_row(each) for each in progress]
    rows += [
        ("-", "-", "-", "-", "-", member.instance_id or member.member_id, member.host)
        for member in group.members
        if member not in busy
    ]
    print_table(PROGRESS_COLUMNS, rows)


def _row(progress: PartitionProgress) -> tuple[str, ...]:
    reader = progress.reader
    numbers = (progress.committed, progress.log_end, progress.lag)
    return (
        progress.place.topic,
        str(progress.place.partition),
        *("-" if number is None else str(number) for number in numbers),
        (reader.instance_id or reader.member_id) if reader else "-",
        reader.host if reader else "-",
    )


def _document(group: Group, progress: list[PartitionProgress]) -> dict[str, Any]:
    members = [
        {**asdict(member), "assigned": [place._asdict() for place in member.assigned]}
        for member in group.members
    ]
    return {
        **asdict(group),
        "members": members,
        "partitions": [
            {
                **each.place._asdict(),
                "committed": each.committed,
                "log_end": each.log_end,
                "lag": each.lag,
                "member_id": each.reader.member_id if each.reader else None,
            }
            for each in progress
        ],
    }


def _show_plan(plan: list[PlannedOffset], *, executed: bool) -> None:
    from logquake.cluster.cli.output import print_table, say

    rows: Rows = [
        (
            each.place.topic,
            str(each.place.partition),
            "-" if each.before is None else str(each.before),
            str(each.after),
        )
        for each in plan
    ]
    print_table(("topic", "partition", "from", "to"), rows)
    if not executed:
        say("nothing is changed yet: --execute does it")
