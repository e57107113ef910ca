"""What a sender says of itself."""

from __future__ import annotations

import pytest

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.filling import Form
from logquake.client.producer.runs import RunFilling
from logquake.client.producer.statistics import SenderStatistics
from logquake.wire.compression import Codec
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.producer.runs_of_records import RunOfRecords

NOW_MS = 1_000
SMALL, LARGE = Record(0, 0, None, b"x"), Record(0, 0, None, b"y" * 1_000)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_the_largest_record_is_told_though_others_are_in_its_batch(codec: Codec) -> None:
    batch = ProducerBatch(TopicPartition("t", 0), NOW_MS, Form(10_000, codec))
    for record in (SMALL, LARGE, SMALL, SMALL):
        assert batch.try_append(record)
    sizes = sizes_told(batch)
    assert 1_000 < sizes["record-size-max"] < 1_020
    assert sizes["record-size-avg"] == batch.plain_bytes / 4


def test_of_a_run_the_largest_is_that_of_its_pieces_averages() -> None:
    batch = ProducerBatch(TopicPartition("t", 0), NOW_MS, Form(10_000), None, RunFilling)
    for records in ([SMALL], [LARGE, LARGE], [SMALL, SMALL]):
        assert batch.try_append_run(RunOfRecords(records))
    assert 1_000 < sizes_told(batch)["record-size-max"] < 1_020


def sizes_told(batch: ProducerBatch) -> dict[str, float]:
    """Once it is sent."""
    batch.build()
    statistics = SenderStatistics()
    statistics.sent([batch], NOW_MS)
    return statistics.metrics(NOW_MS)["producer-metrics"]
