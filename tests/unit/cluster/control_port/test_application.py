from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast

import pytest

from logquake.cluster.control_port.application import Application, HttpRequest
from logquake.cluster.control_port.guard import Guard
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.deeds import Deeds
from logquake.cluster.running.fault import Fault

HEADERS = {"host": "127.0.0.1:1", "authorization": "Bearer t"}


class Hurt:
    """What RunningCluster's methods, taken from its class, find where the cluster would be."""

    def __init__(self) -> None:
        self.deeds = Deeds()
        self.healed: list[str] = []
        self.waited_for: list[Fault] = []

    def _fault(self, verb: str, target: object, remedy: str) -> Fault:
        if target == 9:
            raise ClusterError("no broker-9 here")
        return Fault(f"{verb}-{target}", {}, lambda: self.healed.append(f"{remedy}-{target}"))

    def member_name(self, target: object) -> str:
        return f"broker-{target}"

    def _do(self, _verb: str, name: str) -> str:
        return name

    def _wait_leader(self, *_: object) -> int:
        raise WaitTimeoutError("orders-0 has no leader")


@pytest.fixture
def cluster() -> Hurt:
    return Hurt()


@pytest.fixture
def application(cluster: Hurt) -> Application:
    return Application(cast(RunningCluster, cluster), Guard("t", 1))


def ask(
    application: Application,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] = HEADERS,
) -> tuple[HTTPStatus, Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    answer = application.handle(HttpRequest(method, path, headers, raw))
    json.dumps(answer.document)
    return answer.status, answer.document


def test_a_fault_has_an_id_and_is_healed_by_it(application: Application, cluster: Hurt) -> None:
    told = {"fault": 1, "member": "kill-2", "healed": False}
    assert ask(application, "POST", "/do/kill", {"target": 2}) == (200, told)
    assert ask(application, "GET", "/faults") == (200, {"faults": [told]})
    assert ask(application, "DELETE", "/faults/1") == (200, {**told, "healed": True})
    assert cluster.healed == ["start-2"]
    assert ask(application, "GET", "/faults") == (200, {"faults": []})


def test_all_are_healed_the_newest_first(application: Application, cluster: Hurt) -> None:
    for target in (1, 2):
        ask(application, "POST", "/do/pause", {"target": target})
    status, healed = ask(application, "DELETE", "/faults")
    assert (status, [one["fault"] for one in healed["faults"]]) == (200, [2, 1])
    assert cluster.healed == ["resume-2", "resume-1"]


def test_what_is_no_fault_is_answered_with_its_result(application: Application) -> None:
    assert ask(application, "POST", "/do/resume", {"target": 3}) == (200, {"result": "broker-3"})


def test_a_fault_heals_itself_after_a_time(application: Application, cluster: Hurt) -> None:
    ask(application, "POST", "/do/kill", {"target": 2, "for_s": 0.001})
    for timer in list(application.timers.values()):
        timer.join()
    assert cluster.healed == ["start-2"]


def test_a_wait_that_runs_out_of_time_is_no_other_error(application: Application) -> None:
    ask(application, "POST", "/do/kill", {"target": 2})
    sent = {"topic": "orders", "partition": 0, "since": 1}
    status, document = ask(application, "POST", "/wait/leader_change", sent)
    assert (status, document["error"]) == (504, "orders-0 has no leader")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/do/kill", {"target": 9}, 409, "no broker-9 here"),
        ("POST", "/do/kill", {}, 400, "target is missing"),
        ("POST", "/do/kill", {"target": 2, "for_s": -1}, 400, "for_s=-1"),
        ("POST", "/do/kill", {"target": 2, "for_s": True}, 400, "for_s=True"),
        ("POST", "/do/kill", [2], 400, "the body is an object"),
        ("POST", "/do/kill", b"{", 400, "no JSON"),
        ("POST", "/do/kill", b"[" * 60_000, 400, "no JSON"),
        ("POST", "/do/kill", b"\xff", 400, "no JSON"),
        ("POST", "/do/shut_down", {}, 404, "no 'shut_down': there are"),
        ("POST", "/do/__init__", {}, 404, "no '__init__'"),
        ("POST", "/wait/eventually", {}, 404, "no 'eventually'"),
        ("DELETE", "/faults/7", None, 404, "no fault 7"),
        ("DELETE", "/faults/x", None, 404, "no DELETE /faults/x"),
        ("GET", "/do/kill", None, 404, "no GET /do/kill: GET / says what there is"),
        ("POST", "/wait/leader_change", {"topic": "o", "partition": 0, "since": 5}, 404, "fault 5"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(
    application: Application, method: str, path: str, body: object, status: int, said: str
) -> None:
    told, document = ask(application, method, path, body)
    assert told == status
    assert said in document["error"]


def test_nobody_is_told_anything_without_the_token(application: Application, cluster: Hurt) -> None:
    headers = {"host": "127.0.0.1:1"}
    status, _ = ask(application, "POST", "/do/kill", {"target": 2}, headers)
    assert status == 401
    assert not cluster.deeds.done


def test_it_says_what_can_be_asked(application: Application) -> None:
    _, document = ask(application, "GET", "/")
    assert document["do"]["kill"] == {
        "does": "SIGKILL; as a context manager the fault starts it again. Returns when it is dead.",
        "arguments": {"target": "int | str"},
    }
    assert document["wait"]["isr"]["arguments"]["timeout"] == "float = 60.0"
