"""What may be asked of the links: to begin faults, to heal them, to tell of them.

A fault belongs to the control connection that it was asked for on, unless it says otherwise, and
ends with it: so whoever breaks something and is killed leaves nothing broken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from logquake.cluster.control.server import Request
from logquake.cluster.errors import ClusterError
from logquake.cluster.links.board import Board, HeldFault
from logquake.cluster.links.effects import LinkFault
from logquake.cluster.links.plan import LinkPlan
from logquake.cluster.links.requests.injections import Injections
from logquake.cluster.links.requests.rules import REQUEST, RequestFault
from logquake.cluster.links.requests.watching import WATCH, Watch
from logquake.seams.scheduler import Scheduler

R = TypeVar("R", RequestFault, Watch)


class Asker(Hashable, Protocol):
    """A control connection."""

    def answer(self, value: Any) -> None: ...

    def refuse(self, line: str) -> None: ...


class LinkCommands:
    """Requests to calls, outcomes to answers; links/control.py asks. ``plan`` may change."""

    def __init__(
        self,
        scheduler: Scheduler,
        plan: Callable[[], LinkPlan],
        board: Board,
        injections: Injections,
    ) -> None:
        self._scheduler = scheduler
        self._plan = plan
        self._board = board
        self._injections = injections

    def handle(self, request: Request, asker: Asker) -> None:
        try:
            if request.get("do") == "await":
                self._injections.when_met(int(request["id"]), int(request["times"]), asker.answer)
            else:
                asker.answer(self._answer(request, asker))
        except ClusterError as error:
            asker.refuse(str(error))
        except (KeyError, TypeError, ValueError) as error:
            asker.refuse(f"not understood: {request} ({error!r})")

    def heal_those_of(self, asker: Asker) -> None:
        """It has gone."""
        self._board.heal_those_of(asker)

    def _answer(self, request: Request, asker: Asker) -> Any:
        verb = request.get("do")
        if verb == "begin":
            return self._begin(request, asker)
        if verb == "heal":
            return self._board.heal(int(request["id"]))
        if verb == "heal-all":
            return self._board.heal_all()
        if verb == "list":
            return [self._told(held) for held in self._board.held]
        if verb == "hits":
            return self._injections.hits(int(request["id"]))
        raise ClusterError(f"no command {verb!r}")

    def _begin(self, request: Request, asker: Asker) -> dict[str, Any]:
        fault = self._read_fault(request["fault"])
        if isinstance(fault, Watch):
            fault.make_file()
        since_ms, for_ms = self._scheduler.wall_ms(), request.get("for_ms")
        held = self._board.begin(
            fault,
            owner=None if request.get("stays") else asker,
            since_ms=since_ms,
            until_ms=None if for_ms is None else since_ms + int(for_ms),
        )
        if for_ms is not None:
            self._scheduler.call_later(float(for_ms), lambda: self._heal_in_time(held))
        return held.to_json()

    def _heal_in_time(self, held: HeldFault) -> None:
        self._board.heal(held.id)

    def _read_fault(self, document: dict[str, Any]) -> LinkFault | RequestFault | Watch:
        """Raises ClusterError."""
        if document.get("kind") == WATCH:
            return self._readable(Watch.from_json(document))
        if document.get("kind") == REQUEST:
            return self._readable(RequestFault.from_json(document))
        return LinkFault.from_json(document)

    def _readable(self, fault: R) -> R:
        """The same. Raises ClusterError where it would read nothing."""
        self._board.require_ends(fault.ends)
        if not any(
            link.carries_requests and fault.is_on(link.dialler, link.dialled)
            for link in self._plan().links
        ):
            raise ClusterError(
                f"no requests that can be read go {fault.path}: they go to brokers, and what is "
                "encrypted (--secure) hides them"
            )
        return fault

    def _told(self, held: HeldFault) -> dict[str, Any]:
        hits = self._injections.hits_of(held.id)
        return held.to_json() if hits is None else {**held.to_json(), "hits": hits}
