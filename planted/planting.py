"""From the environment to a broker that has a bug.

LOGQUAKE_PLANTED_BUG names one, or several with commas. It is read where a broker process is made,
and nowhere else; who starts a cluster looks at it too, so that a slip of the pen is told at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from logquake.planted.bug import PlantedBug, Replace
from logquake.planted.bugs import BUGS
from logquake.planted.journal_events import BUG_PLANTED
from logquake.seams.journal import Event

if TYPE_CHECKING:
    from logquake.node.net.loop import EventLoop
    from logquake.node.outside import Outside

    Surround = Callable[[Outside, EventLoop], Outside]

VARIABLE = "LOGQUAKE_PLANTED_BUG"


class UnknownBugError(ValueError):
    """The text is one line, with the nearest name."""


def find_bug(name: str) -> PlantedBug:
    """Raises UnknownBugError."""
    for bug in BUGS:
        if bug.name == name:
            return bug
    near = get_close_matches(name, [bug.name for bug in BUGS], n=1, cutoff=0.0)
    raise UnknownBugError(f"there is no bug {name!r} to plant: did you mean {near[0]}?")


def bugs_asked_for(environment: Mapping[str, str]) -> tuple[PlantedBug, ...]:
    """Raises UnknownBugError."""
    names = (name.strip() for name in environment.get(VARIABLE, "").split(","))
    return tuple(find_bug(name) for name in names if name)


def plant(bugs: Iterable[PlantedBug], replace: Replace = setattr) -> None:
    for bug in bugs:
        bug.load()(replace)


def planted(bugs: tuple[PlantedBug, ...], surround: Surround) -> Surround:
    """Plant them before a broker is made, which says so in its log and in its journal."""
    if not bugs:
        return surround

    def with_bugs(outside: Outside, loop: EventLoop) -> Outside:
        plant(bugs)
        for bug in bugs:
            print(f"planted bug {bug.name}: {bug.wrong} ({bug.reference})", file=sys.stderr)
            outside.journal.record(Event(BUG_PLANTED, bug.name, f"{VARIABLE} asks for it"))
        sys.stderr.flush()
        return surround(outside, loop)

    return with_bugs
