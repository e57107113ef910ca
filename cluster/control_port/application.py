"""Requests to calls of a cluster's methods, outcomes to answers; no socket.

Callable from many threads at once, as the cluster is.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from http import HTTPStatus
from typing import Any

from logquake.cluster.control_port.arguments import ArgumentError, Arguments
from logquake.cluster.control_port.guard import Guard
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.deeds import DEEDS
from logquake.cluster.running.fault import Fault

FOR_S = "for_s"  # the port's own argument of whatever is a fault
MAX_FOR_S = 24 * 3600.0
KEPT_FAULTS = 1_000
_WAIT = "wait_"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Names of headers in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: HTTPStatus
    document: Any


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus, line: str) -> None:
        super().__init__(line)
        self.status = status


class Application:
    def __init__(self, cluster: RunningCluster, guard: Guard) -> None:
        self._cluster = cluster
        self._guard = guard
        self._ids = itertools.count(1)
        self._faults: dict[int, Fault] = {}
        self.timers: dict[int, threading.Timer] = {}

    def handle(self, request: HttpRequest) -> HttpAnswer:
        refusal = self._guard.refusal(request.headers)
        if refusal:
            return _error(*refusal)
        try:
            return HttpAnswer(HTTPStatus.OK, self._dispatch(request))
        except _RefusedError as error:
            return _error(error.status, str(error))
        except ArgumentError as error:
            return _error(HTTPStatus.BAD_REQUEST, str(error))
        except WaitTimeoutError as error:
            return _error(HTTPStatus.GATEWAY_TIMEOUT, str(error))
        except (ClusterError, TimeoutError) as error:
            return _error(HTTPStatus.CONFLICT, str(error))

    def close(self) -> None:
        """Nothing heals itself any more."""
        for timer in list(self.timers.values()):
            timer.cancel()

    def _dispatch(self, request: HttpRequest) -> Any:
        match request.method, request.path.strip("/").split("/"):
            case "GET", [""]:
                return {"do": _described(DEEDS), "wait": _described(waits())}
            case "GET", ["status"]:
                return self._status()
            case "POST", ["do", name]:
                return self._do(name, _read_object(request.body))
            case "POST", ["wait", name]:
                method = _named(waits(), name)
                return {"result": _plain(self._call(method, _read_object(request.body)))}
            case "GET", ["faults"]:
                return {"faults": [self._told(fault_id) for fault_id in self._standing()]}
            case "DELETE", ["faults"]:
                standing = reversed(self._standing())
                return {"faults": [self._healed(fault_id) for fault_id in standing]}
            case "DELETE", ["faults", fault_id] if fault_id.isdecimal():
                return self._healed(self._known(int(fault_id)))
            case method, _:
                raise _RefusedError(
                    HTTPStatus.NOT_FOUND, f"no {method} {request.path}: GET / says what there is"
                )

    def _status(self) -> Any:
        partitions = self._cluster.view.all_partitions()
        return {
            **self._cluster.state().to_json(),
            "bootstrap_servers": self._cluster.bootstrap_servers,
            "controller": self._cluster.view.controller(),
            "partitions": {
                str(place): {"leader": state.leader, "epoch": state.leader_epoch, "isr": state.isr}
                for place, state in sorted(partitions.items())
            },
        }

    def _do(self, name: str, sent: dict[str, Any]) -> Any:
        method = _named(DEEDS, name)
        for_s = None if FOR_S in Arguments(method) else _duration(sent.pop(FOR_S, None))
        done = self._call(method, sent)
        if not isinstance(done, Fault):
            return {"result": _plain(done)}
        fault_id = self._remember(done)
        if for_s is not None:
            timer = self.timers[fault_id] = threading.Timer(for_s, done.heal)
            timer.daemon = True
            timer.start()
        return self._told(fault_id)

    def _call(self, method: Callable[..., object], sent: dict[str, Any]) -> object:
        several, named = Arguments(method).bound(sent, lambda one: self._faults[self._known(one)])
        if not several:
            return method(self._cluster, **named)
        return method(self._cluster, *several, **named)

    def _standing(self) -> list[int]:
        return [one for one, fault in list(self._faults.items()) if not fault.is_healed]

    def _known(self, fault_id: int) -> int:
        if fault_id not in self._faults:
            raise _RefusedError(HTTPStatus.NOT_FOUND, f"no fault {fault_id}: see GET /faults")
        return fault_id

    def _remember(self, fault: Fault) -> int:
        """Also when it is healed: a wait may be about what has been since. The oldest go."""
        fault_id = next(self._ids)
        self._faults[fault_id] = fault
        for old in list(self._faults)[:-KEPT_FAULTS]:
            if self._faults[old].is_healed:
                del self._faults[old]
        return fault_id

    def _healed(self, fault_id: int) -> Any:
        if timer := self.timers.pop(fault_id, None):
            timer.cancel()
        self._faults[fault_id].heal()
        return self._told(fault_id)

    def _told(self, fault_id: int) -> Any:
        fault = self._faults[fault_id]
        return {"fault": fault_id, "member": fault.member, "healed": fault.is_healed}


def waits() -> dict[str, Callable[..., object]]:
    """By their names without ``wait_``; who waits by a function of its own can't be told one."""
    named = {
        name.removeprefix(_WAIT): getattr(RunningCluster, name)
        for name in dir(RunningCluster)
        if name.startswith(_WAIT)
    }
    return {name: method for name, method in named.items() if Arguments(method).can_be_sent}


def _described(methods: Mapping[str, Callable[..., object]]) -> Any:
    return {
        name: {
            "does": (method.__doc__ or "").strip().partition("\n\n")[0],
            "arguments": Arguments(method).described(),
        }
        for name, method in sorted(methods.items())
    }


def _named(methods: Mapping[str, Callable[..., object]], name: str) -> Callable[..., object]:
    if name not in methods:
        listed = ", ".join(sorted(methods))
        raise _RefusedError(HTTPStatus.NOT_FOUND, f"no {name!r}: there are {listed}")
    return methods[name]


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise ArgumentError("the body is no JSON") from None
    if not isinstance(document, dict):
        raise ArgumentError('the body is an object: {"target": 2}')
    return document


def _duration(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_FOR_S:
        raise ArgumentError(f"{FOR_S}={value!r}: it takes seconds, up to {MAX_FOR_S:g}")
    return float(value)


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _error(status: HTTPStatus, line: str) -> HttpAnswer:
    return HttpAnswer(status, {"error": line})
