"""How far a mirror is, by what its query tells, and how much it takes at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from logquake.pipeline.__main__ import _parser
from logquake.pipeline.jobs.mirror import Watch, follow, stream_options
from logquake.pipeline.jobs.transaction_time import SURE_ROWS_A_SECOND
from logquake.pipeline.source.admission import admitted
from logquake.pipeline.source.options import StreamOptions, parse_stream_options
from logquake.wire.topic_partition import TopicPartition

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


class Query:
    """As Spark's: each time it is asked it tells of its last batches, and at last that it ended."""

    def __init__(self, *told: dict[int, int], is_at_work: bool = True) -> None:
        self.status = {"isTriggerActive": True, "isDataAvailable": is_at_work}
        self._left: Iterator[dict[int, int]] = iter(told)
        self._count = len(told)
        self._told: dict[int, int] = {}

    def awaitTermination(self, timeout_s: int) -> bool:  # noqa: ARG002, N802  # Spark's
        self._told = next(self._left)
        self._count -= 1
        return self._count == 0

    @property
    def recentProgress(self) -> list[dict[str, Any]]:  # noqa: N802
        return [{"batchId": batch, "numInputRows": rows} for batch, rows in self._told.items()]


def test_rows_are_told_as_they_come_though_the_batch_was_told_of_without_any(
    capsys: pytest.CaptureFixture[str],
) -> None:
    query: Any = Query({0: 5}, {0: 5, 1: 0}, {0: 5, 1: 0}, {1: 7})
    assert follow(query, Watch(lambda: [FIRST], None, lambda: 0.0), 100) == 112
    assert capsys.readouterr().err.splitlines() == ["mirror: 105 rows", "mirror: 112 rows"]


def test_a_query_is_followed_until_there_are_other_partitions() -> None:
    times, looks = count(), iter([[FIRST], [FIRST], [FIRST, SECOND]])
    watch = Watch(lambda: next(looks), 2, lambda: float(next(times)))
    query: Any = Query({0: 5}, {0: 5, 1: 1}, {1: 1, 2: 1}, {2: 1, 3: 1}, {4: 1}, {5: 9})
    assert follow(query, watch, 0) < 16
    assert watch.places == [FIRST, SECOND]
    assert not watch.has_changed()


@pytest.mark.parametrize(("is_at_work", "rows"), [(True, 12), (False, 5)])
def test_a_batch_that_is_under_way_is_ended_before_other_partitions_are_read(
    is_at_work: bool, rows: int
) -> None:
    times, looks = count(step=2), iter([[FIRST], [FIRST, SECOND]])
    watch = Watch(lambda: next(looks), 2, lambda: float(next(times)))
    query: Any = Query(*[{0: 5}] * 5, {0: 5, 1: 7}, {2: 9}, {2: 9}, is_at_work=is_at_work)
    assert follow(query, watch, 0) == rows


def test_partitions_stay_as_they_were_where_the_mirror_is_to_end() -> None:
    looks = iter([[FIRST], [FIRST, SECOND]])
    watch = Watch(lambda: next(looks), None, lambda: 0.0)
    assert not watch.has_changed()
    assert watch.places == [FIRST]


class Failing(Query):
    """At the end it fails, by what it was to read."""

    def awaitTermination(self, timeout_s: int) -> bool:  # noqa: N802
        if super().awaitTermination(timeout_s):
            raise StreamingQueryException("assign: there is no orders-1")
        return False


@pytest.mark.parametrize(
    ("every_s", "allow_data_loss", "then", "goes_on"),
    [
        (5, True, [FIRST], True),
        (5, True, [FIRST, SECOND], False),  # it has failed by something else
        (5, False, [FIRST], False),
        (None, True, [FIRST], False),
    ],
)
def test_a_query_that_fails_as_partitions_go_is_followed_by_another_where_loss_is_allowed(
    every_s: int | None, allow_data_loss: bool, then: list[TopicPartition], goes_on: bool
) -> None:
    looks = iter([[FIRST, SECOND], then])
    watch = Watch(lambda: next(looks), every_s, lambda: 0.0, allow_data_loss=allow_data_loss)
    query: Any = Failing({0: 5}, {0: 5, 1: 2})
    with nullcontext() if goes_on else pytest.raises(StreamingQueryException):
        assert follow(query, watch, 0) == 7
        assert watch.places == [FIRST]


def asked(*arguments: str, tasks_at_once: int) -> StreamOptions:
    mirror = ["mirror", "a:1", "b:1", "checkpoint", "--topics", "orders", *arguments]
    options = _parser().parse_args(mirror)
    return parse_stream_options(stream_options(options, [FIRST, SECOND], tasks_at_once))


@pytest.mark.parametrize("timeout_s", [None, 1, 5, 900])
@pytest.mark.parametrize("rate", [None, 1, 10, 1_000, 1_000_000])
@pytest.mark.parametrize("tasks_at_once", [1, 2, 64])
def test_no_epoch_takes_longer_than_its_transactions_may_last(
    tmp_path: Path, timeout_s: int | None, rate: int | None, tasks_at_once: int
) -> None:
    target = tmp_path / "to.properties"
    target.write_text(f"transaction.timeout.ms={timeout_s}000\n" if timeout_s else "")
    given = ["--to-config", str(target), *(["--rate", str(rate)] if rate else [])]
    most = asked(*given, tasks_at_once=tasks_at_once).max_offsets
    ends = admitted({FIRST: 0, SECOND: 0}, {FIRST: 10**9, SECOND: 0}, most)
    a_second = min(SURE_ROWS_A_SECOND, rate / tasks_at_once if rate else SURE_ROWS_A_SECOND)
    waits_s = (ends[FIRST] - 1) / a_second  # a task's first row waits for nothing
    assert waits_s <= (timeout_s or 600) / 2


def test_an_epoch_has_no_more_rows_than_are_asked_for_nor_than_are_sure() -> None:
    assert asked(tasks_at_once=2).max_offsets == 600_000
    assert asked("--batch-records", "500", tasks_at_once=2).max_offsets == 500
    assert asked("--batch-records", "9999999", tasks_at_once=2).max_offsets == 600_000


def test_an_epoch_that_is_full_is_not_waited_for_until_it_is_looked_again() -> None:
    goes_on = asked("--every", "60", tasks_at_once=2)
    assert goes_on.min_offsets == goes_on.max_offsets
    assert goes_on.max_delay_ms == 59_500
    assert asked(tasks_at_once=2).min_offsets == 0
