"""What a launched broker runs, and how its settings are checked before anything is forked.

logquake.node is imported when it is needed: the supervisor has a JVM to start first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.node.process.broker_process import Surround
    from logquake.planted.bug import PlantedBug

# With all that it imports: what is loaded before the fork.
MODULE = "logquake.node.process.broker_process"


def check_settings(properties: Path) -> None:
    """Raises ClusterError: a value that a broker would refuse, a file that cannot be read."""
    from logquake.node.settings import BrokerSettings, SettingsError, read_properties

    try:
        BrokerSettings.from_properties(read_properties(properties))
    except SettingsError as error:
        raise ClusterError(str(error)) from error


def bugs_to_plant(environment: Mapping[str, str]) -> tuple[PlantedBug, ...]:
    """What LOGQUAKE_PLANTED_BUG names. Raises ClusterError for what there is not."""
    from logquake.planted.planting import UnknownBugError, bugs_asked_for

    try:
        return bugs_asked_for(environment)
    except UnknownBugError as error:
        raise ClusterError(str(error)) from error


def run_broker(
    properties: Path,
    events: Path,
    ready: Callable[[], None] = lambda: None,
    surround: Surround | None = None,
) -> int:
    """Be a broker until SIGTERM; the exit status. The rest is as a BrokerProcess takes it.

    Raises ClusterError: the environment asks for a bug that there is not.
    """
    from logquake.node.process import broker_process
    from logquake.node.settings import BrokerSettings, read_properties
    from logquake.planted.planting import planted

    settings = BrokerSettings.from_properties(read_properties(properties))
    around = planted(bugs_to_plant(os.environ), surround or broker_process.as_it_is)
    return broker_process.run_broker(settings, events, ready=ready, surround=around)
