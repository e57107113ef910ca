"""``python -m logquake.cluster.supervisor``: what cluster/launcher.py runs; not for people.

    STATE_DIR SPEC CHANNEL attached|detached

SPEC is JSON; CHANNEL is the descriptor of the launcher's socket, on which the start's outcome goes.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

from logquake.cluster.control.server import ControlConnection
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout, take_lock, write_json
from logquake.cluster.spec import ClusterSpec
from logquake.cluster.supervisor.fleet import Fleet
from logquake.cluster.supervisor.signals import StopRequested
from logquake.cluster.supervisor.supervisor import Supervisor

ATTACHED = "attached"
FAILED = 2


def main() -> None:
    root, spec_text, channel, attachment = sys.argv[1:]
    launcher = ControlConnection(socket.socket(fileno=int(channel)))
    spec = ClusterSpec.from_json(json.loads(spec_text))
    try:
        supervise(Layout(Path(root)), spec, launcher, attached=attachment == ATTACHED)
    except ClusterError as error:
        print(error, file=sys.stderr)
        launcher.refuse(str(error))
        sys.exit(FAILED)
    except StopRequested:
        launcher.refuse("the cluster was stopped before it had started")


def supervise(
    layout: Layout,
    spec: ClusterSpec,
    launcher: ControlConnection,
    *,
    attached: bool,
) -> None:
    """Run a cluster to its end. Raises ClusterError, StopRequested when it did not start."""
    layout.prepare(spec.broker_ids, spec.log_dirs)
    with take_lock(layout):
        write_json(layout.spec, spec.to_json())
        fleet = Fleet(layout, spec, launcher.progress)
        Supervisor(layout, fleet, launcher, attached=attached, temporary=spec.temporary).run()


if __name__ == "__main__":
    main()
