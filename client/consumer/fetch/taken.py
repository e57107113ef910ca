"""What a poll has taken, until its program has it.

If the poll is interrupted before that, by Ctrl-C say, the positions go back: otherwise records that
nobody got would be committed.
"""

from __future__ import annotations

from logquake.client.consumer.partition_state import PartitionState
from logquake.client.consumer.position import FetchPosition


class Taken:
    """Of one poll. Whoever makes it gives back where the poll raises."""

    def __init__(self) -> None:
        self._before: dict[PartitionState, FetchPosition] = {}

    def __bool__(self) -> bool:
        return bool(self._before)

    def takes(self, state: PartitionState, before: FetchPosition) -> None:
        """Its position is about to move."""
        self._before.setdefault(state, before)

    def give_back(self) -> None:
        """Each goes back to where it was before the poll. What is left of what was fetched is not
        what is read next, then, and is dropped.
        """
        for state, before in self._before.items():
            state.take_back(before)
