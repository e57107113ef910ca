"""What a task may write in one transaction, for that to be through before its time is over.

A stream that planned more fails for ever: each start runs the same epoch again. All of an epoch may
be one task's, where one partition has it all; so the bound is of an epoch.
"""

from __future__ import annotations

import math

from logquake.pipeline.options.values import OptionError

# What a task is counted on to write a second, on a busy machine, of rows of up to some 10 KiB. More
# makes fewer epochs of more rows, and larger rows fail sooner.
SURE_ROWS_A_SECOND = 2_000
# The rest is for what no rate is about: brokers that are away for a while, the commit.
_WRITING_SHARE = 0.5


def most_rows(timeout_ms: int, rate_of_a_task: float = math.inf) -> int:
    """Of an epoch; ``rate_of_a_task`` is of rows a second."""
    a_second = min(SURE_ROWS_A_SECOND, rate_of_a_task)
    return max(1, int(a_second * timeout_ms / 1000 * _WRITING_SHARE))


def check_rate(rows_of_a_task: int, rate: int, tasks_at_once: int, timeout_ms: int) -> None:
    """Raises OptionError where a task that writes no faster than its share of ``rate`` cannot be
    through in time.
    """
    takes_s, may_last_s = rows_of_a_task * tasks_at_once / rate, timeout_ms / 1000
    if takes_s > may_last_s:
        needed = math.ceil(rows_of_a_task * tasks_at_once / may_last_s)
        raise OptionError(
            f"--rate {rate}: a task of {rows_of_a_task:,} rows takes {takes_s:,.0f} s, and its "
            f"transaction may last for {may_last_s:,.0f}: at least --rate {needed}, a longer "
            "transaction.timeout.ms, or fewer rows (--where)"
        )
