"""A log of ours and one of Kafka's, to which the same is done, and their files held together."""

from __future__ import annotations

from pathlib import Path

from logquake.storage.log.appended import Appended
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import RecordError
from tests.storage.kafka_log import KafkaLog, RefusedError
from tests.storage.lone_log import FOLDER, START_MS, LoneLog

LARGEST_TIME = -3
ACTIVE_INDEXES = (".index", ".timeindex")


def topic_settings(config: LogConfig) -> list[str]:
    policies = {"compact": config.compacted, "delete": config.deleted}
    settings = {
        "cleanup.policy": ",".join(name for name, holds in policies.items() if holds),
        "segment.bytes": config.segment_bytes,
        "segment.ms": config.segment_ms,
        "segment.index.bytes": config.index_max_bytes,
        "index.interval.bytes": config.index_interval_bytes,
        "retention.bytes": config.retention_bytes,
        "retention.ms": config.retention_ms,
        "message.timestamp.type": config.message_timestamp_type.value,
    }
    return [f"{name}={value}" for name, value in settings.items()]


class TwinLogs(LoneLog):
    """What the two answer is the same, or the call fails."""

    def __init__(
        self, folder: Path, kafka: KafkaLog, config: LogConfig, now_ms: int = START_MS
    ) -> None:
        self.kafkas = folder / "kafkas" / FOLDER
        self._kafka = kafka
        super().__init__(folder, config, now_ms)
        self.folders.append(self.kafkas)

    # Life

    def open(self, *, clean: bool = True, recovery_point: int = 0, log_start: int = 0) -> None:
        self._kafka.tell(
            "open",
            self.kafkas,
            str(clean).lower(),
            recovery_point,
            log_start,
            self.now_ms,
            self.config.producer_expiration_ms,
            *topic_settings(self.config),
        )
        super().open(clean=clean, recovery_point=recovery_point, log_start=log_start)

    def close(self) -> None:
        """After it all files are the same."""
        super().close()
        self._kafka.tell("close")
        self._compare_files(closed=True)

    def crash(self) -> None:
        super().crash()
        self._kafka.tell("abandon")

    # Appending

    def lead(self, epoch: int) -> None:
        super().lead(epoch)
        self._kafka.tell("lead", epoch)

    def produce(self, batch: bytes, epoch: int = 0, *, coordinator: bool = False) -> Appended:
        origin = "COORDINATOR" if coordinator else "CLIENT"
        try:
            told = self._kafka.tell("append", origin, epoch, self.now_ms, batch.hex())
        except RefusedError as error:
            told = str(error)
        try:
            appended = super().produce(batch, epoch, coordinator=coordinator)
        except RecordError as error:
            if told[0].isdigit():
                raise AssertionError(f"Kafka appended at {told} what is refused here") from error
            raise
        assert told == f"{appended.first_offset} {appended.last_offset}"
        return appended

    def replicate(self, *batches: bytes) -> None:
        self._kafka.tell("append", "REPLICATION", 0, self.now_ms, b"".join(batches).hex())
        super().replicate(*batches)

    def _replicate_all(self) -> None:
        super()._replicate_all()
        self._kafka.tell("high-watermark", self.log.end_offset)

    # Taking away

    def truncate(self, offset: int) -> None:
        # Else Kafka forgets the largest time of a segment that it only read since its start: the
        # time index, whose last entry goes, is all that it knows of it.
        self._kafka.tell("time", LARGEST_TIME)
        self._kafka.tell("truncate", offset)
        super().truncate(offset)

    def restart(self, offset: int) -> None:
        self._kafka.tell("restart", offset)
        super().restart(offset)

    def raise_start(self, offset: int) -> None:
        self._kafka.tell("start", offset)
        super().raise_start(offset)

    def retain(self) -> None:
        self._kafka.tell("retain", self.now_ms)
        super().retain()

    def expire(self) -> None:
        self._kafka.tell("expire", self.now_ms)
        super().expire()

    # Comparing

    def offset_for_time(self, timestamp: int) -> tuple[int, int] | None:
        found = super().offset_for_time(timestamp)
        assert self._kafka.tell("time", timestamp) == _spelled(found)
        return found

    def offset_of_max_timestamp(self) -> tuple[int, int] | None:
        found = super().offset_of_max_timestamp()
        assert self._kafka.tell("time", LARGEST_TIME) == _spelled(found)
        return found

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        known, end_offset = super().epoch_end(epoch)
        expected = f"Some((offset={end_offset}, leaderEpoch={known}))" if known >= 0 else "None"
        assert self._kafka.tell("epoch", epoch) == expected
        return known, end_offset

    def compare(self) -> None:
        """Both logs start, end and are stable at the same offsets, and their files are the same."""
        log, end_offset = self.log, self.log.end_offset
        unstable = log.first_unstable_offset
        stable = end_offset if unstable is None else unstable
        assert self._kafka.tell("state") == f"{log.start_offset} {end_offset} {stable}"
        self._compare_files(closed=False)

    def _compare_files(self, *, closed: bool) -> None:
        """While a log is in use, the active segment's indexes are compared by size only: Kafka maps
        them and leaves what was cut off in place, ours are written in runs.
        """
        ours, kafkas = self._compared(self.ours), self._compared(self.kafkas)
        active = max(path.stem for path in kafkas.values() if path.suffix == ".log")
        if not kafkas[f"{active}.log"].stat().st_size:
            # Kafka makes the indexes of an empty segment when it first needs them.
            for suffix in ACTIVE_INDEXES:
                ours.pop(active + suffix, None)
                kafkas.pop(active + suffix, None)
        assert sorted(ours) == sorted(kafkas)
        for name, path in sorted(kafkas.items()):
            content, expected = ours[name].read_bytes(), path.read_bytes()
            if not closed and path.stem == active and path.suffix in ACTIVE_INDEXES:
                content, expected = bytes(len(content)), bytes(len(expected))
            assert content == expected, name

    def _compared(self, folder: Path) -> dict[str, Path]:
        return {path.name: path for path in folder.iterdir() if not self._is_spent(path)}

    def _is_spent(self, path: Path) -> bool:
        """Deleted, or a snapshot not after the log's start: nobody reads them any more."""
        is_before_start = path.suffix == ".snapshot" and int(path.stem) <= self.log.start_offset
        return is_before_start or path.suffix == ".deleted"


def _spelled(found: tuple[int, int] | None) -> str:
    return "none" if found is None else f"{found[0]} {found[1]}"
