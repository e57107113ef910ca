"""A log of ours and one of Kafka's, to which the same is done, and their files held together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import RecordError
from tests.storage.kafka_log import KafkaLog, RefusedError

FOLDER = "t-0"
LARGEST_TIME = -3
ACTIVE_INDEXES = (".index", ".timeindex")


def topic_settings(config: LogConfig) -> list[str]:
    settings = {
        "cleanup.policy": "compact" if config.compacted else "delete",
        "segment.bytes": config.segment_bytes,
        "segment.ms": config.segment_ms,
        "segment.index.bytes": config.index_max_bytes,
        "index.interval.bytes": config.index_interval_bytes,
        "retention.bytes": config.retention_bytes,
        "retention.ms": config.retention_ms,
        "message.timestamp.type": config.message_timestamp_type.value,
    }
    return [f"{name}={value}" for name, value in settings.items()]


class TwinLogs:
    """Everything that is appended is replicated at once: the high watermark is the log's end."""

    def __init__(self, folder: Path, kafka: KafkaLog, config: LogConfig, now_ms: int) -> None:
        self.ours, self.kafkas = folder / "ours" / FOLDER, folder / "kafkas" / FOLDER
        self.config = config
        self.now_ms = now_ms
        self._kafka = kafka
        self.open()

    # Life

    def open(self, *, clean: bool = True, recovery_point: int = 0, log_start: int = 0) -> None:
        self.log = Log.open(
            RealDisk(),
            str(self.ours),
            self.config,
            clean=clean,
            recovery_point=recovery_point,
            log_start_offset=log_start,
        )
        told = self._kafka.tell(
            "open",
            self.kafkas,
            str(clean).lower(),
            recovery_point,
            log_start,
            self.now_ms,
            self.config.producer_expiration_ms,
            *topic_settings(self.config),
        )
        self._agree_on_offsets(told)
        self._replicate_all()

    def close(self) -> None:
        """A clean stop, after which all files are the same."""
        self.log.close(clean=True)
        self._kafka.tell("close")
        self.compare(closed=True)

    def reopen(self) -> None:
        start = self._checkpointed_start()
        self.close()
        self.open(log_start=start)
        self.compare()

    def crash(self) -> int:
        """An unclean stop; the log start that the checkpoint would tell."""
        start = self._checkpointed_start()
        self.log.close(clean=False)
        self._kafka.tell("abandon")
        return start

    def _checkpointed_start(self) -> int:
        return self.log.start_offset if self.log.start_is_within_segment else 0

    # Appending

    def lead(self, epoch: int) -> None:
        """Become leader, as the broker has it: the epoch begins where the log ends."""
        self.log.epochs.assign(epoch, self.log.end_offset)
        self.log.commit()
        self._kafka.tell("lead", epoch)

    def produce(self, batch: bytes, epoch: int, *, coordinator: bool = False) -> bool:
        """Append as leader; whether it was accepted, with the same offsets by both."""
        origin = "COORDINATOR" if coordinator else "CLIENT"
        try:
            told = self._kafka.tell("append", origin, epoch, self.now_ms, batch.hex())
        except RefusedError as error:
            told = str(error)
        try:
            appended = self.log.stage_as_leader(
                memoryview(bytearray(batch)), epoch, self.now_ms, internal=coordinator
            )
        except RecordError as error:
            if told[0].isdigit():
                raise AssertionError(f"Kafka appended at {told} what is refused here") from error
            return False
        assert told == f"{appended.first_offset} {appended.last_offset}"
        self._finish_append()
        return True

    def replicate(self, batches: Sequence[bytes]) -> None:
        records = b"".join(batches)
        self._kafka.tell("append", "REPLICATION", 0, self.now_ms, records.hex())
        self.log.stage_as_follower(memoryview(bytearray(records)), self.now_ms)
        self._finish_append()

    def _finish_append(self) -> None:
        self.log.commit()
        self._replicate_all()

    def _replicate_all(self) -> None:
        self.log.replicated_to(self.log.end_offset)
        self._kafka.tell("high-watermark", self.log.end_offset)

    # Taking away

    def truncate(self, offset: int) -> None:
        # Else Kafka forgets the largest time of a segment that it only read since its start: the
        # time index, whose last entry goes, is all that it knows of it.
        self._kafka.tell("time", LARGEST_TIME)
        self._kafka.tell("truncate", offset)
        self.log.truncate_to(offset)
        self._replicate_all()

    def restart(self, offset: int) -> None:
        self._kafka.tell("restart", offset)
        self.log.truncate_fully_and_start_at(offset)

    def raise_start(self, offset: int) -> None:
        self._kafka.tell("start", offset)
        self.log.raise_start(offset, self.log.end_offset)
        self.log.commit()

    def retain(self) -> None:
        self._kafka.tell("retain", self.now_ms)
        for retired in self.log.delete_old(self.now_ms, self.log.end_offset):
            retired.files.remove()
        self.log.commit()

    def expire(self) -> None:
        self._kafka.tell("expire", self.now_ms)
        self.log.expire_producers(self.now_ms)

    # Comparing

    def compare_lookups(self, timestamps: Sequence[int], epochs: Sequence[int]) -> None:
        for timestamp in timestamps:
            found = _spelled(self.log.offset_for_time(timestamp))
            assert (timestamp, self._kafka.tell("time", timestamp)) == (timestamp, found)
        found = _spelled(self.log.offset_of_max_timestamp())
        assert self._kafka.tell("time", LARGEST_TIME) == found
        for epoch in epochs:
            known, end_offset = self.log.epochs.end_offset_for(epoch, self.log.end_offset)
            found = f"Some((offset={end_offset}, leaderEpoch={known}))" if known >= 0 else "None"
            assert (epoch, self._kafka.tell("epoch", epoch)) == (epoch, found)

    def compare(self, *, closed: bool = False) -> None:
        """The folders hold the same files.

        While a log is in use, the active segment's indexes are compared by size only: Kafka maps
        them and leaves what was cut off in place, ours are written in runs.
        """
        if not closed:
            told = self._kafka.tell("state")
            self._agree_on_offsets(told)
            unstable = self.log.first_unstable_offset
            assert told.split()[2] == str(self.log.end_offset if unstable is None else unstable)
        ours, kafkas = _files(self.ours), _files(self.kafkas)
        active = max(path.stem for path in kafkas.values() if path.suffix == ".log")
        if not kafkas[f"{active}.log"].stat().st_size:
            # Kafka makes the indexes of an empty segment when it first needs them.
            for suffix in ACTIVE_INDEXES:
                ours.pop(active + suffix), kafkas.pop(active + suffix, None)
        for files in (ours, kafkas):
            self._leave_out_spent_snapshots(files)
        assert sorted(ours) == sorted(kafkas)
        for name, path in sorted(kafkas.items()):
            content, expected = ours[name].read_bytes(), path.read_bytes()
            if not closed and path.stem == active and path.suffix in ACTIVE_INDEXES:
                content, expected = bytes(len(content)), bytes(len(expected))
            assert content == expected, name

    def _leave_out_spent_snapshots(self, files: dict[str, Path]) -> None:
        """Those at or before the log's start: no start reads them, one removes them."""
        for name in [name for name in files if name.endswith(".snapshot")]:
            if int(files[name].stem) <= self.log.start_offset:
                del files[name]

    def _agree_on_offsets(self, told: str) -> None:
        assert told.split()[:2] == [str(self.log.start_offset), str(self.log.end_offset)]


def _spelled(found: tuple[int, int] | None) -> str:
    return "none" if found is None else f"{found[0]} {found[1]}"


def _files(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir() if path.suffix != ".deleted"}
