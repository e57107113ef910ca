"""The power of some brokers goes at once: SIGKILL, and their files are as the platter has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from logquake.cluster.control.server import ControlConnection, Request
from logquake.cluster.errors import ClusterError
from logquake.cluster.supervisor.inlet import Inlet, inlet_of
from logquake.cluster.supervisor.member import Member


def cut_power(
    request: Request,
    members: Mapping[str, Member],
    inlets: Mapping[str, Inlet],
    connection: ControlConnection,
) -> None:
    """Of ``members``, whether they run or have ended; answered with what each lost.

    ``unsynced`` and ``seed`` say what is left (faults/power/unsynced.py). Raises ClusterError.
    """
    names: list[str] = list(request.get("members") or members)
    victims = [(members[name], inlet_of(inlets, name)) for name in names if name in members]
    if len(victims) < len(names):
        raise ClusterError(f"there are {', '.join(members)}, not all of {', '.join(names)}")
    running = sum(member.alive for member, _ in victims)

    def ended() -> None:
        nonlocal running
        running -= 1
        if running <= 0:
            _answer(request, victims, connection)

    for member, _ in victims:
        if member.alive:
            member.kill()
            member.when_ended(ended)
    if not running:
        ended()


def _answer(
    request: Request, victims: list[tuple[Member, Inlet]], connection: ControlConnection
) -> None:
    unsynced, seed = str(request.get("unsynced")), int(request.get("seed") or 0)
    try:
        lost = {member.name: asdict(inlet.lose_power(unsynced, seed)) for member, inlet in victims}
    except (OSError, ValueError) as error:
        connection.refuse(f"what was not synced could not be taken back: {error}")
    else:
        connection.answer(lost)
