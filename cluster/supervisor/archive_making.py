"""Making ZooKeeper's class archive beside a running cluster, for the starts to come."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from logquake.cluster.supervisor import zygote
from logquake.cluster.zookeeper.class_archive import make_archive
from logquake.cluster.zookeeper.program import Program

# It gives way to the cluster, but not so far that its end takes a minute on a busy machine.
NICENESS = 5


class ArchiveMaking:
    """``log`` takes what its process prints. A cluster that ends meanwhile ends it too."""

    def __init__(self, program: Program, archive: Path, log: Path) -> None:
        self._program = program
        self._archive = archive
        self._log = log
        self._child: zygote.ForkedChild | None = None

    def begin(self) -> None:
        """Nothing happens where the archive is there."""
        if self._child is None and not self._archive.exists():
            self._child = zygote.fork(lambda _say_ready: self._run(), self._log)
            self._child.let_go()

    def reap(self) -> None:
        """Notice its end, if it ended."""
        if self._child is not None and self._child.poll() is not None:
            self._child = None

    def end(self) -> None:
        """Return when nothing of it is left."""
        self.reap()
        if self._child is not None:
            os.kill(self._child.pid, signal.SIGTERM)
            self._child.wait()
            self._child = None

    def _run(self) -> int:
        signal.signal(signal.SIGTERM, self._leave)
        os.nice(NICENESS)
        return 0 if make_archive(self._program, self._archive) else 1

    def _leave(self, *_: object) -> None:
        """An exit, so that the JVM under way is ended and its scratch folder goes; once the archive
        is made the folder is on its way out, and nothing may come between."""
        if not self._archive.exists():
            sys.exit(1)
