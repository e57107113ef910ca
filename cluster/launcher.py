"""Starting a supervisor as a process of its own, and hearing how the start went."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from logquake.cluster.control import ControlClient, SupervisorGoneError
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.spec import ClusterSpec

START_TIMEOUT_S = 120.0
END_TIMEOUT_S = 60.0
SUPERVISOR = (sys.executable, "-m", "logquake.cluster.supervisor")


@dataclass(frozen=True, slots=True)
class Launched:
    """A supervisor that runs. Closing ``control`` ends an attached cluster."""

    process: subprocess.Popen[bytes]
    control: ControlClient

    def close(self) -> None:
        """Let go of it, and wait for its end: an attached cluster ends by this."""
        self.control.close()
        self.process.wait(END_TIMEOUT_S)


def launch(
    layout: Layout,
    spec: ClusterSpec,
    *,
    attached: bool,
    on_progress: Callable[[str], None] = lambda _: None,
    command: Sequence[str] = SUPERVISOR,
) -> Launched:
    """Start a cluster; return when its processes run, which is before the brokers serve.

    An attached cluster ends with this process. Raises ClusterError, and then nothing is left.
    """
    is_new = not layout.root.exists()
    layout.prepare(spec.broker_ids)
    launched = _spawn(layout, spec, command, attached=attached)
    try:
        launched.control.answer(timeout_s=START_TIMEOUT_S, on_progress=on_progress)
    except BaseException as error:  # Ctrl-C as well: a start that is given up leaves nothing
        _give_up(launched)
        failure = _explained(layout, error)
        if is_new:
            layout.remove()
        if failure is error:
            raise
        raise failure from error
    return launched


def _spawn(
    layout: Layout, spec: ClusterSpec, command: Sequence[str], *, attached: bool
) -> Launched:
    ours, theirs = socket.socketpair()
    with theirs, layout.supervisor_log.open("ab") as log:
        channel = str(theirs.fileno())
        attachment = "attached" if attached else "detached"
        process = subprocess.Popen(
            [*command, str(layout.root), json.dumps(spec.to_json()), channel, attachment],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # Ctrl-C in a terminal is for the launcher, who passes it on
        )
    return Launched(process, ControlClient(ours))


def _give_up(launched: Launched) -> None:
    launched.process.terminate()
    launched.close()


def _explained(layout: Layout, error: BaseException) -> BaseException:
    """A supervisor that ended without a word had a bug: its log's last line says which."""
    if not isinstance(error, SupervisorGoneError):
        return error
    lines = layout.supervisor_log.read_text(errors="replace").strip().splitlines()
    return ClusterError(f"the supervisor ended while it started: {lines[-1] if lines else '?'}")
