"""Faults that outlast the command that orders them, for as long as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from logquake.cluster.cli.times import seconds

if TYPE_CHECKING:
    from logquake.cluster.running.inside_faults import Until

For = Annotated[
    str | None, typer.Option("--for", metavar="TIME", help="Heal it after 10s, 500ms, ...")
]


def until(for_: str | None) -> Until:
    """It stands when the command has ended."""
    return {"for_s": None if for_ is None else seconds(for_), "stays": True}
