"""Everything a broker asks of the outside, in one value: plug in a process, or a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from logquake.seams.journal import Journal
from logquake.seams.network import Network
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.disk.seam import Disk
from logquake.zk.operations import Session, SessionListener


@dataclass(frozen=True, slots=True)
class Outside:
    scheduler: Scheduler
    network: Network
    disk: Disk
    workers: Workers
    journal: Journal
    open_session: Callable[[SessionListener], Session]
    random: Random
    # What the broker's loop has had of a processor, for quotas of request time.
    thread_time_ns: Callable[[], int]
    # The IPv4 address of a host by its name or address; None where there is none. It may take
    # long: for workers.
    address_of: Callable[[str], str | None]
