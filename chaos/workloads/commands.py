"""Any program as a workload: ``python -m logquake.chaos.workloads.commands PARENT COMMAND...``.

It becomes that program, and is killed when the process PARENT, which started it, is no more.
"""

from __future__ import annotations

import os
import sys

from logquake.cluster.processes.lifeline import die_with


def main() -> None:
    """Raises OSError for a program that is not there."""
    parent, *command = sys.argv[1:]
    die_with(int(parent))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
