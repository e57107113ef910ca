"""A broker of ours in a process of its own: ``python -m``, and its server.properties."""

from __future__ import annotations

import sys
from pathlib import Path

from logquake.cluster.processes.broker_program import run_broker

if __name__ == "__main__":
    file = Path(sys.argv[1])
    sys.exit(run_broker(file, file.with_suffix(".events.jsonl")))
