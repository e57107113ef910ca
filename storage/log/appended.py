"""What staging a batch answers."""

from __future__ import annotations

from typing import NamedTuple


class Appended(NamedTuple):
    """Offsets of what was staged; for a duplicate, of the batch that it repeats.

    log_append_time_ms is NO_TIMESTAMP unless the topic keeps append times, or the batch repeats
    one. size is in bytes, 0 for a duplicate and where nothing complete was given.
    """

    first_offset: int
    last_offset: int
    max_timestamp: int
    log_append_time_ms: int
    duplicate: bool
    size: int
