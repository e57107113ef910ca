"""The process that starves others, and heals them whatever becomes of its owner.

    python -m tests.starving.guard ROOT_PID PLAN

PLAN is a Starvation as JSON. The descendants of ROOT_PID, and itself unless it is the owner, are
stopped and continued until standard input ends: the owner closes it, or the kernel does when the
owner dies. Lines on it, each answered with ``ok``: ``spare PID`` (continue it and leave it alone),
``starve PID``.
The last line on standard output is a Suffered as JSON.

Caveat: a guard that is itself killed with SIGKILL leaves whom it had stopped to its owner.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict

import psutil

from logquake.cluster.processes.lifeline import die_with
from tests.starving.plan import Starvation, Suffered

LOOK_AGAIN_S = 0.2  # for processes that were started meanwhile


class Victim:
    """One process; a descriptor names it, so that its id's next owner is never hit."""

    def __init__(self, pid: int, slices: Iterator[tuple[float, float]], now: float) -> None:
        self._pid = pid
        self._fd = os.pidfd_open(pid)
        self._slices = slices
        self._stopped_since: float | None = None
        self._run_s, self._stop_s = next(slices)
        self.next_change = now + self._run_s
        self.stops = 0
        self.stopped_s = 0.0

    def change(self, now: float) -> None:
        """Stop it or let it go on, as it is due."""
        if self._stopped_since is not None:
            self.release(now)
        elif _is_stopped(self._pid):  # somebody else's doing, and so is its end
            self.next_change = now + self._run_s
        elif self._signal(signal.SIGSTOP):
            self._stopped_since = now
            self.stops += 1
            self.next_change = now + self._stop_s

    def release(self, now: float) -> None:
        """Let it go on if it was stopped here."""
        if self._stopped_since is not None:
            self._signal(signal.SIGCONT)
            self.stopped_s += now - self._stopped_since
            self._stopped_since = None
        self._run_s, self._stop_s = next(self._slices)
        self.next_change = now + self._run_s

    def close(self) -> None:
        os.close(self._fd)

    @property
    def is_gone(self) -> bool:
        return bool(select.select([self._fd], [], [], 0)[0])

    def _signal(self, number: signal.Signals) -> bool:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, number)
            return True
        return False


class Guard:
    def __init__(self, root_pid: int, plan: Starvation) -> None:
        self._root_pid = root_pid
        self._plan = plan
        self._victims: dict[int, Victim] = {}
        self._gone: list[Victim] = []
        self._spared: set[int] = set()
        self._ours = _tree(os.getpid()) | {os.getppid()}
        self._began = time.monotonic()

    def run(self) -> None:
        """Starve until the owner lets go, or the plan's time is up."""
        look_at = self._began
        while (now := time.monotonic()) - self._began < self._plan.at_most_s:
            if now >= look_at:
                self._look(now)
                look_at = now + LOOK_AGAIN_S
            due = [one for one in self._victims.values() if one.next_change <= now]
            for victim in due:
                victim.change(now)
            changes = [one.next_change for one in self._victims.values()]
            if not self._listen(min(look_at, *changes, now + LOOK_AGAIN_S) - time.monotonic()):
                return

    def heal(self) -> Suffered:
        now = time.monotonic()
        for victim in self._victims.values():
            victim.release(now)
        everybody = [*self._victims.values(), *self._gone]
        return Suffered(
            processes=len(everybody),
            stops=sum(one.stops for one in everybody),
            stopped_s=sum(one.stopped_s for one in everybody),
            lasted_s=now - self._began,
        )

    def _look(self, now: float) -> None:
        """Take in who was started, let go of who ended."""
        for pid in [pid for pid, victim in self._victims.items() if victim.is_gone]:
            self._let_go(pid)
        for pid in sorted(_tree(self._root_pid) - self._ours):
            if pid not in self._victims and pid not in self._spared:
                stream = len(self._victims) + len(self._gone)
                with contextlib.suppress(ProcessLookupError):
                    self._victims[pid] = Victim(pid, self._plan.slices(stream), now)

    def _let_go(self, pid: int) -> None:
        victim = self._victims.pop(pid, None)
        if victim is not None:
            victim.release(time.monotonic())
            victim.close()
            self._gone.append(victim)

    def _listen(self, timeout_s: float) -> bool:
        """Obey one line, if one comes in time; False at the end of input."""
        if not select.select([sys.stdin], [], [], max(0.0, timeout_s))[0]:
            return True
        verb, _, pid = sys.stdin.readline().partition(" ")
        if not verb:
            return False
        if verb == "spare":
            self._spared.add(int(pid))
            self._let_go(int(pid))
        else:
            self._spared.discard(int(pid))
        print("ok", flush=True)
        return True


def busy_loop() -> None:
    """Fork a process that takes a processor for as long as this one lives."""
    parent = os.getpid()
    if os.fork() == 0:
        die_with(parent)
        while True:
            pass


def _tree(root_pid: int) -> set[int]:
    """The process and its descendants."""
    try:
        root = psutil.Process(root_pid)
        return {root_pid, *(child.pid for child in root.children(recursive=True))}
    except psutil.NoSuchProcess:
        return set()


def _is_stopped(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:
        return False


def main() -> None:
    root_pid, plan = int(sys.argv[1]), Starvation(**json.loads(sys.argv[2]))
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal's are for the owner
        signal.signal(number, signal.SIG_IGN)
    for _ in range(plan.busy_loops):
        busy_loop()
    guard = Guard(root_pid, plan)
    print("ok", flush=True)
    try:
        guard.run()
    finally:
        suffered = guard.heal()
    with contextlib.suppress(BrokenPipeError):  # the owner is dead
        print(json.dumps(asdict(suffered)), flush=True)


if __name__ == "__main__":
    main()
