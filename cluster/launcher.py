"""How a cluster is started, by ``logquake up`` and by ``with Cluster()`` alike.

launch() starts its supervisor as a process of its own; Launched.wait_until_ready() hears how the
start went, and asks the brokers until they know one another.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from logquake.cluster.control.client import ControlClient, SupervisorGoneError
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import last_line
from logquake.cluster.processes.broker_program import bugs_to_plant
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.spec import ClusterSpec

START_TIMEOUT_S = 120.0
END_TIMEOUT_S = 60.0
LAST_WORD_TIMEOUT_S = 1.0
SIGNALS_SEEN_WITHIN_S = 1.0
PLANTED_BUGS = "LOGQUAKE_PLANTED_BUG"  # read by logquake.planted
SUPERVISOR = (sys.executable, "-m", "logquake.cluster.supervisor")


class Launched:
    """A supervisor that was started. Letting go of it ends an attached cluster."""

    def __init__(
        self,
        cluster: RunningCluster,
        process: subprocess.Popen[bytes],
        control: ControlClient,
        is_new: bool,
    ) -> None:
        self._cluster = cluster
        self._process = process
        self._control = control
        self._is_new = is_new  # no state directory was there before

    def wait_until_ready(self, timeout_s: float, on_progress: Callable[[str], None]) -> None:
        """Return when its brokers know one another and the controller.

        ``timeout_s`` counts from when all processes run. Raises ClusterError, and then nothing is
        left of the start.
        """
        try:
            _preload()
            self._wait_until_started(on_progress)
            on_progress("waiting for the brokers to know one another")
            self._cluster.wait_ready(timeout_s, after_start=True)
        except BaseException:  # Ctrl-C as well
            self._abandon()
            raise

    def _wait_until_started(self, on_progress: Callable[[str], None]) -> None:
        """Return when its processes run, which is before the brokers serve."""
        try:
            self._control.answer(timeout_s=START_TIMEOUT_S, on_progress=on_progress)
        except SupervisorGoneError as error:
            # It ended without a word: a bug, or a kill. Its log's last line may say which.
            said = last_line(self._cluster.layout.supervisor_log)
            raise ClusterError(f"the supervisor ended while it started: {said}") from error

    def _abandon(self) -> None:
        """End a start that failed, and remove a state directory that it made."""
        self.ask_to_stop()
        self.close()
        if self._is_new:
            self._cluster.layout.remove()

    def ask_to_stop(self, *, at_once: bool = False) -> None:
        """Ask for a clean end; ``at_once`` when that was asked before.

        Another signal then: two of the same that follow each other closely are one.
        """
        self._process.send_signal(signal.SIGINT if at_once else signal.SIGTERM)

    def close(self) -> None:
        """Let go of it and wait for the supervisor's end."""
        self._control.close()
        self._process.wait(END_TIMEOUT_S)

    def leave(self) -> None:
        """Let go of a detached cluster, which runs on."""
        self._control.close()
        self._process.returncode = 0  # not ours to wait for; Popen would warn of it

    def wait_until_ended(self) -> None:
        """Wait until the cluster ends, whoever ends it.

        Raises ClusterError if it was killed, or gave up, then with its own line.
        """
        status = self._wait_by_turns()
        if status != 0:
            with suppress(SupervisorGoneError):
                self._control.answer(timeout_s=LAST_WORD_TIMEOUT_S)
            raise ClusterError(f"the supervisor ended with status {status}: nothing of it runs")

    def _wait_by_turns(self) -> int:
        """A signal that comes just before a system call does not interrupt it: Python sees to it
        after the call, which must not be for ever.
        """
        while True:
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(SIGNALS_SEEN_WITHIN_S)


def launch(
    cluster: RunningCluster,
    spec: ClusterSpec,
    *,
    attached: bool,
    planted_bugs: Sequence[str] = (),
) -> Launched:
    """Begin to start a cluster; an attached one ends with this process.

    ``planted_bugs`` its brokers have besides those that the environment names. Raises ClusterError
    when the state directory cannot be used, or there is no such bug.
    """
    layout = cluster.layout
    environment = _with_bugs(os.environ, planted_bugs)
    is_new = not layout.root.exists()
    layout.prepare(spec.broker_ids, spec.log_dirs)
    ours, theirs = socket.socketpair()
    with theirs, layout.supervisor_log.open("ab") as log:
        channel = str(theirs.fileno())
        attachment = "attached" if attached else "detached"
        process = subprocess.Popen(
            [*SUPERVISOR, str(layout.root), json.dumps(spec.to_json()), channel, attachment],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(theirs.fileno(),),
            env=environment,
            start_new_session=True,  # Ctrl-C in a terminal is for the launcher, who passes it on
        )
    return Launched(cluster, process, ControlClient(ours), is_new)


def _with_bugs(environment: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Raises ClusterError."""
    named = [*filter(None, [environment.get(PLANTED_BUGS)]), *names]
    if not named:
        return dict(environment)
    changed = {**environment, PLANTED_BUGS: ",".join(named)}
    bugs_to_plant(changed)
    return changed


def _preload() -> None:
    """Import what waiting will need, at a moment when there is nothing else to do.

    kazoo and the wire schemas take a tenth of a second, more than all other imports here.
    """
    importlib.import_module("logquake.cluster.observing.readiness")
    importlib.import_module("logquake.cluster.observing.view")
