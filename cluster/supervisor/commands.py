"""What may be asked of a running supervisor: a verb, mostly with the name of a member.

``kill``, ``stop`` and ``restart`` are answered once the process has ended: its port then refuses.
``start`` is answered at once: whether the broker serves is for the asker to find out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from logquake.cluster.errors import ClusterError
from logquake.cluster.supervisor.control_server import ControlConnection, Request
from logquake.cluster.supervisor.fleet import Fleet
from logquake.cluster.supervisor.member import Member

Done = Callable[[], None]


class ShutDown(Protocol):
    def __call__(self, *, remove: bool, at_once: bool, done: Done) -> None: ...


class Commands:
    """Requests to calls, outcomes to answers."""

    def __init__(self, fleet: Fleet, shut_down: ShutDown) -> None:
        self._fleet = fleet
        self._shut_down = shut_down

    def handle(self, request: Request, connection: ControlConnection) -> None:
        try:
            self._dispatch(request, connection)
        except ClusterError as error:
            connection.refuse(str(error))

    def _dispatch(self, request: Request, connection: ControlConnection) -> None:
        verb = str(request.get("do"))
        if verb == "status":
            connection.answer(self._fleet.state().to_json())
        elif verb == "shutdown":
            self._shut_down(
                remove=bool(request.get("remove")),
                at_once=bool(request.get("at_once")),
                done=lambda: connection.answer(None),
            )
        elif verb in _MEMBER_VERBS:
            member = self._member(str(request.get("member")))
            _MEMBER_VERBS[verb](member, lambda: connection.answer(None))
        else:
            raise ClusterError(f"no command {verb!r}")

    def _member(self, name: str) -> Member:
        member = self._fleet.members.get(name)
        if member is None:
            raise ClusterError(f"no {name} here: there are {', '.join(self._fleet.members)}")
        return member


def _start(member: Member, done: Done) -> None:
    member.start()
    done()


def _kill(member: Member, done: Done) -> None:
    member.kill()
    member.when_ended(done)


def _stop(member: Member, done: Done) -> None:
    member.stop()
    member.when_ended(done)


def _restart(member: Member, done: Done) -> None:
    if member.alive:
        _stop(member, lambda: _start(member, done))
    else:
        _start(member, done)


def _pause(member: Member, done: Done) -> None:
    member.pause()
    done()


def _resume(member: Member, done: Done) -> None:
    member.resume()
    done()


_MEMBER_VERBS: dict[str, Callable[[Member, Done], None]] = {
    "start": _start,
    "kill": _kill,
    "stop": _stop,
    "restart": _restart,
    "pause": _pause,
    "resume": _resume,
}
