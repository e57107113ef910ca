""".kafka_cleanshutdown: the promise of the last run that no log needs to be scanned.

It is removed before the logs are opened, so that a crash while loading counts as unclean
(KAFKA-10471).
"""

from __future__ import annotations

from logquake.storage.disk.seam import Disk
from logquake.storage.file_names import join

FILE_NAME = ".kafka_cleanshutdown"
_CONTENT = b'{"version":0,"brokerEpoch":-1}'


def take_marker(disk: Disk, log_dir: str) -> bool:
    """Remove the marker, durably; whether it was there."""
    path = join(log_dir, FILE_NAME)
    if not disk.exists(path):
        return False
    disk.remove(path)
    disk.sync_dir(log_dir)
    return True


def leave_marker(disk: Disk, log_dir: str) -> None:
    disk.replace(join(log_dir, FILE_NAME), _CONTENT)
