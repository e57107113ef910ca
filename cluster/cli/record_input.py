"""Records out of what is typed or piped: one a line, its key in front where one is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from logquake.client.producer import ProducerRecord
from logquake.client.producer.partitioning import partition_for
from logquake.cluster.errors import ClusterError

# Before a delimiter comes, a record is held in memory. Brokers take 1 MB unless told otherwise.
MAX_RECORD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LineFormat:
    """How lines become records."""

    delimiter: bytes = b"\n"
    key_separator: bytes | None = None  # a line without it has no key
    key: bytes | None = None  # of records that bring none
    headers: tuple[tuple[str, bytes | None], ...] = ()
    empty_is_null: bool = False

    def record(self, line: bytes) -> ProducerRecord:
        key, value = self.key, line
        if self.key_separator is not None and self.key_separator in line:
            key, _, value = line.partition(self.key_separator)
        return ProducerRecord(self._null(key), self._null(value), self.headers)

    def _null(self, data: bytes | None) -> bytes | None:
        return None if self.empty_is_null and not data else data


class Lines:
    """Cuts what comes in pieces of any size at a delimiter."""

    def __init__(self, delimiter: bytes) -> None:
        self._delimiter = delimiter
        self._rest = b""

    def add(self, piece: bytes) -> list[bytes]:
        """The lines that are whole now. Raises ClusterError for one beyond MAX_RECORD_BYTES."""
        *whole, self._rest = (self._rest + piece).split(self._delimiter)
        if len(self._rest) > MAX_RECORD_BYTES:
            raise ClusterError(
                f"no delimiter in {MAX_RECORD_BYTES} bytes: choose another with --delimiter"
            )
        return whole

    def end(self) -> list[bytes]:
        """A last line that nothing ends."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


class Spread:
    """Which partition each record goes to: its key's, or for a while the same one (KIP-480)."""

    def __init__(self, partitions: Sequence[int], first: int, fixed: int | None) -> None:
        self._partitions = partitions
        self._turn = first
        self._fixed = fixed

    def batches(
        self, records: Sequence[ProducerRecord]
    ) -> Iterator[tuple[int, list[ProducerRecord]]]:
        """The records by partition, in order; those without a key share one, next time another."""
        by_partition: dict[int, list[ProducerRecord]] = {}
        without_key = self._partitions[self._turn % len(self._partitions)]
        for record in records:
            by_partition.setdefault(self._of(record, without_key), []).append(record)
        self._turn += 1
        yield from sorted(by_partition.items())

    def _of(self, record: ProducerRecord, without_key: int) -> int:
        if self._fixed is not None:
            return self._fixed
        if record.key is None:
            return without_key
        return partition_for(record.key, len(self._partitions))


def parse_headers(assignments: Sequence[str]) -> tuple[tuple[str, bytes | None], ...]:
    """``name=value``; a name alone has no value. Raises ClusterError for no name."""
    headers: list[tuple[str, bytes | None]] = []
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not name:
            raise ClusterError(f"{assignment!r} is no header: write name=value")
        headers.append((name, value.encode() if separator else None))
    return tuple(headers)


def choice(text: str, among: Mapping[str, int], what: str) -> int:
    """Raises ClusterError."""
    if text not in among:
        raise ClusterError(f"no {what} {text!r}: choose {', '.join(among)}")
    return among[text]
