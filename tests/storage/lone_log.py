"""A log on the real disk, to which things are done; twin_logs.py does them to Kafka's own too."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.appended import Appended
from logquake.storage.log.log import Log
from logquake.storage.log.opening import OpeningTerms
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import RecordError
from tests.storage.last_run import last_run

FOLDER = "t-0"
START_MS = 1_700_000_000_000
_ENTRIES = {".index": ">ii", ".timeindex": ">qi"}


class LoneLog:
    """Everything that is appended is replicated at once: the high watermark is the log's end.

    ``folders`` are those in which files are damaged.
    """

    def __init__(self, folder: Path, config: LogConfig, now_ms: int = START_MS) -> None:
        self.ours = folder / "ours" / FOLDER
        self.folders = [self.ours]
        self.config = replace(config, transactions_verified=False)  # nobody is there to be asked
        self.now_ms = now_ms
        self.open()

    # Life

    def open(self, *, clean: bool = True, recovery_point: int = 0, log_start: int = 0) -> None:
        self.log = Log.open(
            RealDisk(),
            str(self.ours),
            self.config,
            last_run(clean=clean, recovery_point=recovery_point, log_start_offset=log_start),
            OpeningTerms(now_ms=self.now_ms),
        )
        self._replicate_all()

    def close(self) -> None:
        """A clean stop."""
        self.log.close(clean=True)

    def crash(self) -> None:
        """An unclean stop."""
        self.log.close(clean=False)

    def reopen(self) -> None:
        """A clean stop and a start after it."""
        start = self.checkpointed_start
        self.close()
        self.open(log_start=start)
        self.compare()

    @property
    def checkpointed_start(self) -> int:
        """What log-start-offset-checkpoint would tell."""
        return self.log.start_offset if self.log.start_is_within_segment else 0

    # Appending

    def lead(self, epoch: int) -> None:
        """Become leader, as the broker has it: the epoch begins where the log ends."""
        self.log.epochs.assign(epoch, self.log.end_offset)
        self.log.commit()

    def produce(self, batch: bytes, epoch: int = 0, *, coordinator: bool = False) -> Appended:
        """Append as leader. Raises RecordError."""
        appended = self.log.stage_as_leader(
            memoryview(bytearray(batch)), epoch, self.now_ms, internal=coordinator
        )
        self._finish_append()
        return appended

    def replicate(self, *batches: bytes) -> None:
        """Append as follower, all at once."""
        self.log.stage_as_follower(memoryview(bytearray(b"".join(batches))), self.now_ms)
        self._finish_append()

    def accepts(self, batch: bytes, epoch: int = 0, *, coordinator: bool = False) -> bool:
        try:
            self.produce(batch, epoch, coordinator=coordinator)
        except RecordError:
            return False
        return True

    def _finish_append(self) -> None:
        self.log.commit()
        self._replicate_all()

    def _replicate_all(self) -> None:
        self.log.replicated_to(self.log.end_offset)

    # Taking away

    def truncate(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self._replicate_all()

    def restart(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)

    def raise_start(self, offset: int) -> None:
        self.log.raise_start(offset, self.log.end_offset)
        self.log.commit()

    def retain(self) -> None:
        for retired in self.log.delete_old(self.now_ms, self.log.end_offset):
            retired.files.remove()
        self.log.commit()

    def expire(self) -> None:
        self.log.expire_producers(self.now_ms)

    # Looking and damaging

    def compare(self) -> None:
        """Nobody is there to be compared with."""

    def offset_for_time(self, timestamp: int) -> tuple[int, int] | None:
        return self.log.offset_for_time(timestamp)

    def offset_of_max_timestamp(self) -> tuple[int, int] | None:
        return self.log.offset_of_max_timestamp()

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        return self.log.epochs.end_offset_for(epoch, self.log.end_offset)

    def files(self, suffix: str) -> list[int]:
        """Offsets in the names of our files that end so."""
        return sorted(int(path.stem) for path in self.ours.glob(f"*{suffix}"))

    def entries(self, base_offset: int, suffix: str) -> Sequence[tuple[int, int]]:
        """Of an index that nobody appends to any more."""
        content = (self.ours / f"{base_offset:020d}{suffix}").read_bytes()
        return list(struct.iter_unpack(_ENTRIES[suffix], content))

    def remove(self, name: str) -> None:
        for folder in self.folders:
            (folder / name).unlink()

    def write(self, name: str, content: bytes) -> None:
        for folder in self.folders:
            (folder / name).write_bytes(content)

    def extend(self, name: str, size: int) -> None:
        """Zeros at a file's end, or less of it."""
        for folder in self.folders:
            content = (folder / name).read_bytes()
            (folder / name).write_bytes((content + bytes(max(size, 0)))[: len(content) + size])
