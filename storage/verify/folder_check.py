"""What lies in a partition's folder besides the records."""

from __future__ import annotations

from itertools import pairwise

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage import file_names as names
from logquake.storage.checkpoint_files import DamagedCheckpointError
from logquake.storage.disk.seam import Disk
from logquake.storage.errors import StorageError
from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.partition_metadata import FILE_NAME as METADATA
from logquake.storage.partition_metadata import read_topic_id
from logquake.storage.verify.findings import Findings

_SUFFIXES = (*names.SEGMENT_SUFFIXES, names.SNAPSHOT_SUFFIX)
_OTHER_FILES = (METADATA, checkpoints.LEADER_EPOCHS)
_MARKS = (names.DELETED_FILE_SUFFIX, names.CLEANED_FILE_SUFFIX, names.SWAP_FILE_SUFFIX)
TEMPORARY_SUFFIX = ".tmp"


def check_files(directory: str, found: list[str], findings: Findings) -> None:
    """Files that belong to no log."""
    logs = set(names.offsets_with(found, names.LOG_SUFFIX))
    marked = {name for mark in _MARKS for name in names.marked_files(found, mark)}
    for name in found:
        if name in _OTHER_FILES:
            continue
        path = names.join(directory, name)
        suffix = next((each for each in _SUFFIXES if name.endswith(each)), "")
        offset = names.offset_of(name, suffix) if suffix else None
        if name in marked:
            findings.note("leftover", path, "the next start finishes or removes it")
        elif name.endswith(TEMPORARY_SUFFIX):
            findings.note("leftover", path, "was left by a crash while it was written")
        elif offset is None:
            findings.note("unknown-file", path, "is no file of a log; brokers leave it alone")
        elif suffix != names.SNAPSHOT_SUFFIX and offset not in logs:
            findings.note("orphan", path, "has no .log beside it; the next start removes it")


def check_metadata(disk: Disk, directory: str, findings: Findings) -> None:
    path = names.join(directory, METADATA)
    try:
        if read_topic_id(disk, directory) is None:
            findings.damage(
                "metadata",
                path,
                "is missing: a topic made anew would take the records for its own",
            )
    except StorageError as error:
        findings.damage("metadata", path, str(error).removeprefix(f"{path}: "))


def read_epochs(disk: Disk, directory: str, findings: Findings) -> LeaderEpochs | None:
    """None when the file cannot be relied on."""
    path = names.join(directory, checkpoints.LEADER_EPOCHS)
    try:
        entries = checkpoints.read_epochs(disk, path)
    except DamagedCheckpointError as error:
        findings.damage("epoch-checkpoint", path, str(error))
        return None
    for (epoch, start), (later, beyond) in pairwise(entries):
        if later <= epoch or beyond <= start:
            findings.damage(
                "epoch-checkpoint", path, f"epoch {later} at {beyond} follows {epoch} at {start}"
            )
            return None
    return LeaderEpochs(entries)
