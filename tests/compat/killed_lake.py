"""A lake's job that is killed the nth time it is at a step: its arguments are STEP NTH SERVERS LAKE
TOPIC.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from logquake.pipeline.jobs.lake.compacting import CompactionSettings
from logquake.pipeline.jobs.lake.lake import Lake, LakeSettings
from logquake.pipeline.jobs.lake.ledger import Step, opened
from logquake.pipeline.session import spark_session


def lake_settings(servers: str, topic: str) -> LakeSettings:
    """Three batches of what the test writes, and hours whose files are merged."""
    return LakeSettings(
        {"kafka.bootstrap.servers": servers, "subscribe": topic},
        batch_records=200,
        compaction=CompactionSettings(most_files=2),
    )


def main(step: str, nth: str, servers: str, lake: str, topic: str) -> None:
    told: list[Step] = []

    def die(now: Step) -> None:
        told.append(now)
        if now is Step[step] and told.count(now) == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)

    with opened(Path(lake), die) as ledger:
        Lake(spark_session(cores=1, short=True), lake_settings(servers, topic), ledger).fill()


if __name__ == "__main__":
    main(*sys.argv[1:])
