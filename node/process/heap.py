"""Python's collector of reference cycles, kept from holding up the loop.

A full collection looks at every container there is, 0.2 us each: 200 ms with 10,000 partitions.
But what a broker keeps for long (logs, partitions, connections, metadata) goes by reference count
when its time is over. So what a full collection leaves is never looked at again (gc.freeze), and
the next one sees only what is new since, some hundred thousand containers at most.

Caveat: what becomes a cycle of garbage after it was frozen stays until the process ends. That
neither a deleted partition, a closed fetch session nor a connection is one, whoever opened it, is
tested.
"""

from __future__ import annotations

import gc

# Containers allocated between two collections of the youngest; of those collections until the next
# older ones are looked at too; and of those until all are. Python's default of 700 looks through
# requests that wait for followers again and again, for cycles that requests do not make.
_THRESHOLDS = (20_000, 2, 1)


def keep_collections_short() -> None:
    """From now on, and for the rest of the process."""
    gc.set_threshold(*_THRESHOLDS)
    if _freeze_what_is_left not in gc.callbacks:
        gc.callbacks.append(_freeze_what_is_left)


def settle_heap() -> None:
    """Look at all there is once more, at a moment in which nobody is kept waiting by it."""
    gc.collect()


def _freeze_what_is_left(phase: str, info: dict[str, int]) -> None:
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()
