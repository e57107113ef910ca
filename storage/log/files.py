"""The files of one log, as far as they are written: segments, leader epochs, producer snapshots,
the topic's id.

Every method raises OSError for the disk's faults.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.storage import checkpoint_files
from logquake.storage.checkpoint_files import DamagedCheckpointError
from logquake.storage.disk.seam import Disk, File
from logquake.storage.file_names import join, parent
from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.log.staging import Roll, Run
from logquake.storage.log_config import LogConfig
from logquake.storage.partition_metadata import PartitionMetadataFile
from logquake.storage.producers.snapshot import encode_snapshot
from logquake.storage.producers.snapshots import ProducerSnapshots
from logquake.storage.producers.state import ProducerStates
from logquake.storage.segments.batch_walk import first_offset_at
from logquake.storage.segments.open_files import OpenFiles
from logquake.storage.segments.segments import Segments

# Segments, each with three or four descriptors: a log that was scanned has all of its to sync.
_SYNCED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Unsynced:
    """Once these are synced, everything below end_offset is.

    ``epochs`` is which of the leader epochs' unsynced versions is among the files.
    """

    files: tuple[File, ...]
    directories: tuple[str, ...]
    end_offset: int
    epochs: int


class LogFiles:
    def __init__(
        self, disk: Disk, directory: str, config: LogConfig, open_files: OpenFiles | None
    ) -> None:
        self.segments = Segments(disk, directory, config, open_files)
        self.snapshots = ProducerSnapshots(disk, directory)
        self.epochs = LeaderEpochs()
        self.metadata = PartitionMetadataFile(disk, directory)
        self._disk = disk
        self._directory = directory
        self._epochs_path = join(directory, checkpoint_files.LEADER_EPOCHS)
        self._unsynced_epochs = 0  # how often they were noted since they were durable
        self._forgot_epochs = False

    # Opening and closing

    def load_epochs(self) -> bool:
        """Whether a checkpoint was there: an empty file, which a new log has, says nothing."""
        if not self._disk.exists(self._epochs_path):  # as Kafka, which never looks for one in vain
            self._disk.open(self._epochs_path, create=True)
        try:
            entries = checkpoint_files.read_epochs(self._disk, self._epochs_path)
        except DamagedCheckpointError:
            return False
        for epoch, start_offset in entries:
            self.epochs.assign(epoch, start_offset)
        self.epochs.changed = False
        return bool(entries or self._disk.read(self._epochs_path))

    def seal(self, producers: ProducerStates) -> None:
        """Bring the files into the shape that a clean start trusts, durably."""
        self.metadata.write()
        self.save_epochs()
        active = self.segments.active
        active.seal()
        for file in active.files_to_sync(active=False):
            file.sync()
        end_offset = producers.end_offset
        if end_offset > max([self.segments.first.base_offset, *self.snapshots.offsets()]):
            self.snapshots.write(end_offset, encode_snapshot(producers.entries())).sync()
        self._disk.sync_dir(self._directory)

    # Writing

    def write(self, runs: list[Run]) -> None:
        """Write staged batches, rolling where they say so."""
        self.metadata.write()
        for run in runs:
            if run.roll is not None:
                self._roll(run.roll)
            self.segments.active.append(run.batches, run.aborted)

    def note_epochs(self) -> None:
        """Write leader-epoch-checkpoint if it changed, as durable as the records that follow.

        It is synced with them: unsynced() has it. What a loss of power takes of it is found in the
        records, which are scanned from the recovery point on; a last epoch without records is
        dropped by every start. (Kafka syncs it at each assignment: thousands at a failover.)
        """
        if self._forgot_epochs:
            self.save_epochs()
        elif self.epochs.changed:
            entries = self.epochs.entries
            checkpoint_files.write_epochs(self._disk, self._epochs_path, entries, synced=False)
            self.epochs.changed = False
            self._unsynced_epochs += 1

    def save_epochs(self) -> None:
        """Write leader-epoch-checkpoint durably, if it changed or was only noted."""
        if self.epochs.changed or self._unsynced_epochs:
            checkpoint_files.write_epochs(self._disk, self._epochs_path, self.epochs.entries)
            self.epochs.changed = self._forgot_epochs = False
            self._unsynced_epochs = 0

    def forget_epochs_before(self, start_offset: int) -> None:
        """The log starts there now, which the next note makes durable.

        So it does with the folder, where retention takes segments out: a start that their names
        tell is in no checkpoint, and would go back with them.
        """
        self.epochs.truncate_from_start(start_offset)
        self._forgot_epochs = self.epochs.changed

    def note_synced(self, unsynced: Unsynced) -> None:
        """What unsynced() answered is synced."""
        if unsynced.epochs == self._unsynced_epochs:
            self._unsynced_epochs = 0

    def truncate_to(self, offset: int) -> int:
        """Drop the batch that holds offset and all after it, durably; the new end offset.

        Whole batches go: an end within a batch would leave a gap before the next append.
        """
        self.segments.delete_after(offset)
        active = self.segments.active
        place = active.find(offset)
        if place is None:
            active.truncate_at(active.size, offset)
            end_offset = active.next_offset()
        else:
            # A gap that compaction left may lie before the batch: what comes next may fill it. A
            # message set's wrapper may begin before its segment, where the log started amid it.
            first_offset = first_offset_at(active.file, place.position, active.size)
            end_offset = max(active.base_offset, min(offset, first_offset))
            active.truncate_at(place.position, end_offset)
        active.activate()
        self.snapshots.delete_outside(-1, end_offset)
        # A file that a power loss brings back would lie over what is appended from here on.
        self._disk.sync_dir(self._directory)
        self.epochs.truncate_from_end(end_offset)
        self.save_epochs()
        return end_offset

    def restart_at(self, offset: int) -> None:
        """Drop everything; the log is empty and begins at offset."""
        self.metadata.write()  # where a log begins is of its topic, as records are
        self.segments.restart_at(offset)
        self.snapshots.delete_all()
        self._disk.sync_dir(self._directory)
        self.epochs.clear()
        self.save_epochs()

    def unsynced(self, recovery_point: int, end_offset: int, *, rolled_only: bool) -> Unsynced:
        """What may have changed since the recovery point was reached, of the oldest segments.

        Not the active segment's indexes: they are built anew after a crash whatever they hold.
        """
        active, first = self.segments.active, self.segments.first
        segments = self.segments.unsynced(recovery_point)
        if len(segments) > _SYNCED_AT_ONCE:
            end_offset = segments[_SYNCED_AT_ONCE].base_offset
        elif rolled_only:
            end_offset = active.base_offset
        files: list[File] = []
        for segment in segments[:_SYNCED_AT_ONCE]:
            if not (rolled_only and segment is active):
                files += segment.files_to_sync(active=segment is active)
        epochs = self._unsynced_epochs
        if epochs:
            files.append(self._disk.open(self._epochs_path))
        folders = [self._directory] if epochs else []
        if active.base_offset >= recovery_point:
            files += self.snapshots.open_files(recovery_point, end_offset)
            folders = [self._directory]
        if first.base_offset >= recovery_point:  # else it was synced with its first segment
            folders.append(parent(self._directory))
        return Unsynced(tuple(files), tuple(folders), end_offset, epochs)

    def roll_at_end(self, producers: ProducerStates) -> None:
        """Begin a segment where producers end."""
        self._roll(Roll(producers.end_offset, encode_snapshot(producers.entries())))

    def _roll(self, roll: Roll) -> None:
        self.segments.roll(roll.base_offset)
        self.snapshots.write(roll.base_offset, roll.snapshot)
