"""What became of a send. As Jepsen has it: acked, with a place; refused, certainly not appended;
unknown, a time-out or a lost connection: it may or may not be in the log.
"""

from __future__ import annotations

from enum import IntEnum


class Outcome(IntEnum):
    UNKNOWN = 0  # also while no answer has come
    ACKED = 1
    REFUSED = 2
