"""What a poll has taken, until the program gets it.

If the poll is interrupted before that, by Ctrl-C for instance, the positions go back: otherwise
records that the program never got would be committed.
"""

from __future__ import annotations

from logquake.client.consumer.partition_state import PartitionState
from logquake.client.consumer.position import FetchPosition


class Taken:
    """Records of one poll. The caller gives them back if the poll raises."""

    def __init__(self) -> None:
        self._before: dict[PartitionState, FetchPosition] = {}

    def __bool__(self) -> bool:
        return bool(self._before)

    def takes(self, state: PartitionState, before: FetchPosition) -> None:
        """Note the position before it moves."""
        self._before.setdefault(state, before)

    def give_back(self) -> None:
        """Move each position back to where it was before the poll. The rest of the fetched data
        then no longer matches the position, and is dropped.
        """
        for state, before in self._before.items():
            state.take_back(before)
