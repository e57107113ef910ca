"""What a launched broker runs, and how its settings are checked before anything is forked.

logquake.node is imported when it is needed: the supervisor has a JVM to start first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.node.process.broker_process import Surround

# With all that it imports: what is loaded before the fork.
MODULE = "logquake.node.process.broker_process"


def check_settings(properties: Path) -> None:
    """Raises ClusterError: a value that a broker would refuse, a file that cannot be read."""
    from logquake.node.settings import BrokerSettings, SettingsError, read_properties

    try:
        BrokerSettings.from_properties(read_properties(properties))
    except SettingsError as error:
        raise ClusterError(str(error)) from error


def run_broker(
    properties: Path,
    events: Path,
    ready: Callable[[], None] = lambda: None,
    surround: Surround | None = None,
) -> int:
    """Be a broker until SIGTERM; the exit status. The rest is as a BrokerProcess takes it."""
    from logquake.node.process import broker_process
    from logquake.node.settings import BrokerSettings, read_properties

    settings = BrokerSettings.from_properties(read_properties(properties))
    return broker_process.run_broker(
        settings, events, ready=ready, surround=surround or broker_process.as_it_is
    )
