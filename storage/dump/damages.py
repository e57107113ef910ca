"""What is wrong with the files that were dumped, in the words of Kafka's tool."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.storage.dump.scala_order import in_scala_order, string_hash

Pair = tuple[int, int]
ByFile = dict[str, list[Pair]]


class Damages:
    """Collected while files are dumped; ``found`` once anything makes a file unsound.

    Offsets that do not follow one another are listed and are no damage: compaction makes gaps.
    Paths are absolute.
    """

    def __init__(self) -> None:
        self.found = False
        self._at_once: list[str] = []
        self._index_mismatches: ByFile = {}
        self._time_mismatches: ByFile = {}
        self._times_out_of_order: ByFile = {}
        self._offsets_not_found: ByFile = {}
        self._gaps: ByFile = {}

    def add(self, line: str) -> None:
        self.found = True
        self._at_once.append(line)

    def unknown_file(self, path: str) -> None:
        self._at_once.append(f"Ignoring unknown file {path}")

    def index_mismatch(self, path: str, index_offset: int, log_offset: int) -> None:
        self._put(self._index_mismatches, path, (index_offset, log_offset))

    def time_mismatch(self, path: str, index_timestamp: int, log_timestamp: int) -> None:
        self._put(self._time_mismatches, path, (index_timestamp, log_timestamp))

    def time_out_of_order(self, path: str, timestamp: int, previous: int) -> None:
        self._put(self._times_out_of_order, path, (timestamp, previous))

    def offset_not_found(self, path: str, index_offset: int, log_offset: int) -> None:
        self._put(self._offsets_not_found, path, (index_offset, log_offset))

    def gap(self, path: str, offset: int, following: int) -> None:
        self._gaps.setdefault(path, []).append((offset, following))

    def take_lines(self) -> list[str]:
        """What add() and unknown_file() brought since the last call, to be shown at once."""
        lines, self._at_once = self._at_once, []
        return lines

    def summary(self) -> Iterator[str]:
        """What is shown once all files are dumped."""
        # Kafka puts each new pair of these two lists in front, and shows them so.
        yield from _listed(
            self._index_mismatches,
            "Mismatches in :{path}",
            "  Index offset: {}, log offset: {}",
            newest_first=True,
        )
        yield from _listed(
            self._time_mismatches,
            "Found timestamp mismatch in :{path}",
            "  Index timestamp: {}, log timestamp: {}",
        )
        yield from _listed(
            self._times_out_of_order,
            "Found out of order timestamp in :{path}",
            "  Index timestamp: {}, Previously indexed timestamp: {}",
        )
        yield from _listed(
            self._offsets_not_found,
            "The following indexed offsets are not found in the log.",
            "Indexed offset: {}, found log offset: {}",
        )
        yield from _listed(
            self._gaps,
            "Non-consecutive offsets in {path}",
            "  {} is followed by {}",
            newest_first=True,
        )

    def _put(self, damages: ByFile, path: str, pair: Pair) -> None:
        self.found = True
        damages.setdefault(path, []).append(pair)


def _listed(
    damages: ByFile, heading: str, line: str, *, newest_first: bool = False
) -> Iterator[str]:
    for path in in_scala_order(damages, string_hash):
        pairs = damages[path]
        yield heading.format(path=path)
        for pair in reversed(pairs) if newest_first else pairs:
            yield line.format(*pair)
