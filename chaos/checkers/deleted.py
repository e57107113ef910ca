"""What clients said of topics that were deleted since, which no log tells anything of any more.

A topic that was made anew under its name has other records at the same offsets, and groups begin it
anew: Kafka's coordinator forgets what was committed of a deleted one
(GroupMetadataManager.cleanupGroupMetadata). What was asked before the deletion and answered later
may be of the one or of the other, and nobody is blamed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from logquake.chaos.evidence.clients import Clients, Column, Polls
from logquake.chaos.evidence.stored import Mask

Held = Callable[[str, Column, Column], Mask]
"""Whether some replica of a partition has these values at these offsets now."""


def begins_of(clients: Clients, ends_us: Mapping[str, int]) -> Column:
    """Of each partition, when the topic was deleted last that had its name before; 0 for never."""
    topics = (name.rpartition("-")[0] for name in clients.partitions.all)
    return np.array([ends_us.get(topic, 0) for topic in topics], np.int64)


def since_deletions(clients: Clients, begins: Column, held: Held) -> Clients:
    """Without what was read, committed and looked at before; sends and assignments stay, which
    others name by their places.
    """
    known = dict(zip(clients.partitions.all, begins.tolist(), strict=True))
    return replace(
        clients,
        polls=_only(clients.polls, _is_of_now(clients, begins, held)),
        commits=[one for one in clients.commits if one.asked_us >= known.get(one.partition, 0)],
        looks=[look for look in clients.looks if look.at_us >= known.get(look.subject, 0)],
    )


def _is_of_now(clients: Clients, begins: Column, held: Held) -> Mask:
    """Not either what was asked for before, and came to the application later."""
    polls, sends = clients.polls, clients.sends
    is_of_now: Mask = polls.at_us >= begins[polls.partition]
    for number in np.flatnonzero(begins).tolist():
        at = np.flatnonzero(is_of_now & (polls.partition == number))
        values = polls.values[polls.begin[at]]
        send = sends.find(number, values)
        is_old = (send >= 0) & (sends.asked_us[send] < begins[number])
        is_of_now[at[is_old & ~held(clients.partitions[number], polls.offset[at], values)]] = False
    return is_of_now


def _only(polls: Polls, chosen: Mask) -> Polls:
    return Polls(
        polls.process[chosen],
        polls.at_us[chosen],
        polls.partition[chosen],
        polls.offset[chosen],
        polls.count[chosen],
        polls.begin[chosen],
        polls.assignment[chosen],
        polls.values,
    )
