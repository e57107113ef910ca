"""For how long a starved process runs and is stopped, by turns: from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random


def slices(
    seed: int | str, stopped_share: float, shortest_ms: int, longest_ms: int
) -> Iterator[tuple[float, float]]:
    """Milliseconds to run, then milliseconds to be stopped, for ever.

    It is stopped for times between the two bounds, and runs for such that the share comes out.
    """
    random = Random(seed)
    running_to_stopped = (1 - stopped_share) / stopped_share
    while True:
        run_ms = running_to_stopped * random.uniform(shortest_ms, longest_ms)
        yield run_ms, random.uniform(shortest_ms, longest_ms)
