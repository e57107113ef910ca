"""Where a log starts, as far as it is moved ahead (UnifiedLog.maybeIncrementLogStartOffset).

The records before it are gone for readers at once. The files that hold only such records go at the
next retention check, and until then log-start-offset-checkpoint tells a restart of it.
"""

from __future__ import annotations

from logquake.storage.errors import OffsetOutOfRange
from logquake.storage.log.state import LogState


class LogStart:
    def __init__(self, state: LogState) -> None:
        self._state = state

    @property
    def is_within_segment(self) -> bool:
        """The files alone do not tell it: a restart needs the checkpoint."""
        state = self._state
        return state.start_offset > state.files.segments.first.base_offset

    def raise_to(self, offset: int, high_watermark: int) -> bool:
        """Start at offset from now on, never back; whether that is a change.

        Leader epochs that ended before it are forgotten; their file follows at the next write.
        Raises OffsetOutOfRange beyond the high watermark: what is not committed must stay.
        """
        state = self._state
        if offset > high_watermark:
            raise OffsetOutOfRange(offset, state.start_offset, high_watermark)
        if offset <= state.start_offset:
            return False
        state.start_offset = offset
        state.files.forget_epochs_before(offset)
        return True
