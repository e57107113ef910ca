"""What a task tells of a range that it cannot read to its end."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from logquake.client.errors import ReadStalledError
from logquake.pipeline.source.admission import DataLossError
from logquake.pipeline.source.options import parse_options
from logquake.pipeline.source.planning import OffsetRange
from logquake.wire.topic_partition import TopicPartition

pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

from logquake.pipeline.source import reading

PLACE = TopicPartition("orders", 0)


class Ended:
    """A consumer that stands at 40 of a log that ends at 50 by now."""

    config = SimpleNamespace(logquake_max_decompressed_bytes=1)

    def position(self, _: TopicPartition) -> int:
        return 40

    def end_offsets(self, _: list[TopicPartition]) -> dict[TopicPartition, int]:
        return {PLACE: 50}

    def beginning_offsets(self, _: list[TopicPartition]) -> dict[TopicPartition, int]:
        return {PLACE: 0}


def _stalls(*_: object, **__: object) -> None:
    raise ReadStalledError("orders-0: nothing at 40")


@pytest.mark.parametrize(
    ("strict", "told", "why"),
    [
        ("true", DataLossError, "orders-0 ends at offset 50, before 100"),
        ("false", ReadStalledError, "nothing at 40"),
    ],
)
def test_what_stalls_is_told_as_a_loss_only_where_losses_count(
    strict: str, told: type[Exception], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "consuming", lambda *_: nullcontext(Ended()))
    monkeypatch.setattr(reading, "stored_range", _stalls)
    given = {"kafka.bootstrap.servers": "a:1", "subscribe": "orders", "failOnDataLoss": strict}
    with pytest.raises(told, match=why):
        list(reading.read_range(parse_options(given), OffsetRange(*PLACE, 40, 100)))
