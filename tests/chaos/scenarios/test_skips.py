"""What readers were never handed, of literal rows."""

from __future__ import annotations

import pytest

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.scenarios.skips import skipped

READ, AFTERWARDS = [1, 2, 3, 4], [1, 2, 13, 14, 15]


def polled(
    process: str,
    offset: int,
    values: list[int],
    subject: str = "orders-0",
    group: str | None = None,
) -> Row:
    return Row(0, process, 1, Kind.POLLED, subject, offset=offset, values=values, group=group)


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        # It goes on at offset 4: 13 and 14 took the place of what it read.
        ([polled("reader", 0, READ), polled("reader", 4, [15])], 2),
        # It goes back.
        ([polled("reader", 0, READ), polled("reader", 2, [13, 14, 15])], 0),
        # It has not come to the rest.
        ([polled("reader", 0, [1, 2])], 0),
        # It began where others stood already.
        ([polled("reader", 4, [15])], 4),
        ([polled("reader", 4, [15]), polled("other", 3, [14, 15])], 4 + 3),
        # Members of groups share what there is.
        ([polled("member", 4, [15], group="readers")], 0),
        ([polled("reader", 4, [15], subject="orders-1")], 0),
    ],
)
def test_what_is_there_in_the_end_and_was_passed_over(rows: list[Row], count: int) -> None:
    final = [polled("final", 0, AFTERWARDS[:2]), polled("final", 0, AFTERWARDS)]
    assert skipped([*rows, *final], "final") == count
    assert skipped([*rows, polled("final", 0, [-1] * 9)], "final") == 0
