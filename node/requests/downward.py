"""Records for consumers of Fetch 0 to 3, who cannot read a record batch of magic 2 (KIP-283).

Kafka converts while it sends, a piece at a time. Here the conversions run on a worker thread, one
request after the other, and each answer holds at most a setting's bytes of converted records and
the first batch of each partition; the consumer comes again for the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.values import FetchPartition, FetchResult
from logquake.seams.workers import Workers
from logquake.storage.log.slice import LogSlice
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import ProduceLimits, down_convert

_FIRST_VERSION_WITH_BATCHES = 4
_FIRST_VERSION_WITH_TIMESTAMPS = 2
FIRST_VERSION_SENT_AS_STORED = 10  # before, zstd may be refused (KIP-110)

Read = tuple[FetchPartition, FetchResult]
Done = Callable[[list[Read]], None]
Outcome = bytes | ErrorCode | OSError


@dataclass(frozen=True, slots=True)
class DownConversionSettings:
    # Converted records in one answer, beyond the first batch of each partition. More means fewer
    # requests of old consumers, and more memory for each.
    max_bytes: int = 8 * 1024 * 1024


class _Job:
    """One request's conversions; run() is the part for the worker."""

    def __init__(
        self, magic: int, slices: list[tuple[int, LogSlice, int]], max_bytes: int, limit: int
    ) -> None:
        self._magic = magic
        self._slices = slices  # index of the result, its records, the offset asked for
        self._max_bytes = max_bytes
        self._limit_bytes = limit

    def run(self) -> dict[int, Outcome]:
        left = self._max_bytes
        outcomes: dict[int, Outcome] = {}
        for index, records, fetch_offset in self._slices:
            outcome = self._convert(records, fetch_offset, left)
            outcomes[index] = outcome
            if isinstance(outcome, bytes):
                left = max(0, left - len(outcome))
        return outcomes

    def _convert(self, records: LogSlice, fetch_offset: int, left: int) -> Outcome:
        try:
            return down_convert(
                memoryview(records.read()),
                self._magic,
                fetch_offset,
                limit_bytes=self._limit_bytes,
                max_bytes=left,
            )
        except RecordError as error:
            return error.code
        except OSError as error:
            return error


class DownConversion:
    def __init__(
        self, replicas: ReplicaManager, workers: Workers, settings: DownConversionSettings
    ) -> None:
        self._replicas = replicas
        self._workers = workers
        self._settings = settings
        self._waiting: deque[tuple[_Job, Callable[[dict[int, Outcome]], None]]] = deque()
        self._is_running = False

    def convert(
        self, version: int, reads: Sequence[Read], *, from_follower: bool, done: Done
    ) -> None:
        """Make the results what a Fetch of this version can carry; done at once or later."""
        allowed = [
            (asked, self._allowed(version, asked, result, from_follower=from_follower))
            for asked, result in reads
        ]
        slices = [
            (index, result.records, asked.fetch_offset)
            for index, (asked, result) in enumerate(allowed)
            if isinstance(result.records, LogSlice)
        ]
        if version >= _FIRST_VERSION_WITH_BATCHES or not slices:
            done(allowed)
            return
        magic = 1 if version >= _FIRST_VERSION_WITH_TIMESTAMPS else 0
        limit_bytes = ProduceLimits().max_decompressed_bytes
        job = _Job(magic, slices, self._settings.max_bytes, limit_bytes)
        self._waiting.append((job, lambda outcomes: done(self._settled(allowed, outcomes))))
        self._run_next()

    def _allowed(
        self, version: int, asked: FetchPartition, result: FetchResult, *, from_follower: bool
    ) -> FetchResult:
        """KafkaApis.maybeConvertFetchedData's refusals, whatever the partition would answer."""
        partition = self._partition(asked)
        if partition is None:
            return result
        config = partition.config
        if config.log.compression is Codec.ZSTD and version < FIRST_VERSION_SENT_AS_STORED:
            return FetchResult(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, aborted=())
        if (
            version < _FIRST_VERSION_WITH_BATCHES
            and not from_follower
            and not config.message_downconversion
        ):
            return FetchResult(ErrorCode.UNSUPPORTED_VERSION)
        return result

    def _run_next(self) -> None:
        if self._is_running or not self._waiting:
            return
        job, settle = self._waiting.popleft()
        self._is_running = True

        def on_ran(future: Future[dict[int, Outcome]]) -> None:
            self._is_running = False
            self._run_next()
            settle(future.result())

        self._workers.run_in_worker(job.run, on_ran)

    def _settled(self, reads: list[Read], outcomes: dict[int, Outcome]) -> list[Read]:
        settled = list(reads)
        for index, outcome in outcomes.items():
            asked, result = reads[index]
            if isinstance(outcome, OSError):
                partition = self._partition(asked)
                if partition is not None:
                    partition.go_offline(f"reading for a conversion: {outcome}")
                settled[index] = asked, FetchResult(ErrorCode.KAFKA_STORAGE_ERROR)
            elif isinstance(outcome, ErrorCode):
                settled[index] = asked, FetchResult(outcome)
            else:
                settled[index] = asked, replace(result, records=outcome)
        return settled

    def _partition(self, asked: FetchPartition) -> Partition | None:
        return self._replicas.partition(asked.topic or "", asked.partition)
