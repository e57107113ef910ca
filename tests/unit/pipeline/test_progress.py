"""How far a streaming query is behind, by its own progress."""

from __future__ import annotations

import json

import pytest

from logquake.pipeline.progress import lags
from logquake.wire.topic_partition import TopicPartition

LATEST = {"orders": {"0": 30, "1": 5}}
END = {"orders": {"0": 10, "1": 5}}
BEHIND = {TopicPartition("orders", 0): 20, TopicPartition("orders", 1): 0}


def test_a_partition_is_behind_by_what_the_batch_left() -> None:
    assert lags({"sources": [{"latestOffset": LATEST, "endOffset": END}]}) == BEHIND


def test_a_listener_is_told_text() -> None:
    told = {"latestOffset": json.dumps(LATEST), "endOffset": json.dumps(END)}
    assert lags({"sources": [told]}) == BEHIND


def test_a_source_that_tells_no_latest_offset_is_left_out() -> None:
    rate = {"latestOffset": None, "endOffset": None}
    assert lags({"sources": [rate, {"latestOffset": LATEST, "endOffset": END}]}) == BEHIND


@pytest.mark.parametrize(
    "told",
    [
        {"logOffset": 3},  # of files
        12,  # of Spark's rate
        "12",
        "at the end",
        {"shards": {"first": 4}, "orders": {"0": "text"}},
        [1],
    ],
)
def test_a_source_whose_offsets_are_not_of_topics_is_left_out(told: object) -> None:
    other = {"latestOffset": told, "endOffset": told}
    assert lags({"sources": [other, {"latestOffset": LATEST, "endOffset": END}]}) == BEHIND
