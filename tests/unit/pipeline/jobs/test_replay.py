"""A lake's rows are shared out to tasks."""

from __future__ import annotations

from logquake.pipeline.jobs.replay import tasks_of


def test_a_run_has_a_task_for_each_partition_but_not_too_many_whatever_runs_them() -> None:
    assert tasks_of({"orders": 3, "bills": 2}) == 5
    assert tasks_of({"orders": 1_000}) == 64
