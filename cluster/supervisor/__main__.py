"""``python -m logquake.cluster.supervisor``: what the launcher runs; not for people."""

from __future__ import annotations

from logquake.cluster.broker_program import BROKER_PROGRAM
from logquake.cluster.supervisor.entry import main

if __name__ == "__main__":
    main(BROKER_PROGRAM)
