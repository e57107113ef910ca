"""The transactions of one log that hold its last stable offset back (ProducerStateManager).

A transaction is ongoing from its first batch to its marker, and unreplicated from then until the
high watermark has passed the marker. The first offset of either kind is unstable: what lies there,
or whether it stays, is not decided.

Changes are provisional until keep(): the batches behind them are staged, not yet written.
"""

from __future__ import annotations

from collections.abc import Iterable


class Transactions:
    """``first_unstable_offset`` is None when every transaction is decided and replicated."""

    def __init__(self) -> None:
        self.first_unstable_offset: int | None = None
        self._ongoing: dict[int, int] = {}  # first offset -> producer id, ascending
        self._unreplicated: dict[int, int] = {}  # first offset -> offset of the marker
        # Kept beside: as long as no high watermark is known, all of a log's transactions are in it.
        self._first_unreplicated: int | None = None
        self._begun: list[int] = []  # first offsets, since keep()
        self._ended: dict[int, int] = {}  # first offset -> producer id, since keep()

    @property
    def first_undecided_offset(self) -> int | None:
        """Of the transactions without a marker: compaction must stop there."""
        return next(iter(self._ongoing), None)

    def load(self, ongoing: Iterable[tuple[int, int]]) -> None:
        """Start over with these (first offset, producer id)."""
        self._ongoing = dict(sorted(ongoing))
        self._set_unreplicated({})
        self.keep()

    def begin(self, first_offset: int, producer_id: int) -> None:
        self._ongoing[first_offset] = producer_id
        self._begun.append(first_offset)
        self._update()

    def end(self, first_offset: int, marker_offset: int) -> int:
        """The transaction's marker came; the first offset that is undecided from then on.

        That is the marker's next one if nothing else is under way (.txnindex wants to know it).
        """
        self._ended[first_offset] = self._ongoing.pop(first_offset)
        self._unreplicated[first_offset] = marker_offset
        self._first_unreplicated = _lower(self._first_unreplicated, first_offset)
        self._update()
        return next(iter(self._ongoing), marker_offset + 1)

    def replicated_to(self, high_watermark: int) -> None:
        """What ended below the high watermark is stable."""
        if self._unreplicated:
            left = {
                first: marker
                for first, marker in self._unreplicated.items()
                if marker >= high_watermark
            }
            self._set_unreplicated(left)

    def keep(self) -> None:
        self._begun.clear()
        self._ended.clear()

    def roll_back(self) -> None:
        """Undo what began and ended since keep()."""
        if not (self._begun or self._ended):
            return
        for first_offset in self._ended:
            del self._unreplicated[first_offset]
        self._ongoing.update(self._ended)
        for first_offset in self._begun:
            del self._ongoing[first_offset]
        self._ongoing = dict(sorted(self._ongoing.items()))
        self.keep()
        self._set_unreplicated(self._unreplicated)

    def _set_unreplicated(self, unreplicated: dict[int, int]) -> None:
        self._unreplicated = unreplicated
        self._first_unreplicated = min(unreplicated, default=None)
        self._update()

    def _update(self) -> None:
        self.first_unstable_offset = _lower(self.first_undecided_offset, self._first_unreplicated)


def _lower(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
