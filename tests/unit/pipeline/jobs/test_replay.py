"""A lake's rows are shared out to tasks."""

from __future__ import annotations

import pytest

from logquake.pipeline.jobs.replay import tasks_of
from logquake.pipeline.jobs.transaction_time import check_rate
from logquake.pipeline.options.values import OptionError


def test_a_run_has_a_task_for_each_partition_but_not_too_many_whatever_runs_them() -> None:
    assert tasks_of({"orders": 3, "bills": 2}) == 5
    assert tasks_of({"orders": 1_000}) == 64


def test_a_rate_that_a_transaction_cannot_last_for_is_refused_with_one_that_it_can() -> None:
    told = "--rate 1000: a task of 333,000 rows takes 666 s, and its transaction may last for 600"
    with pytest.raises(OptionError, match=f"{told}: at least --rate 1110,"):
        check_rate(333_000, 1_000, tasks_at_once=2, timeout_ms=600_000)
    check_rate(333_000, 1_110, tasks_at_once=2, timeout_ms=600_000)
