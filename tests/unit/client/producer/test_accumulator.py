"""What holds of an accumulator whatever is drawn at random; scripts play the rest."""

from __future__ import annotations

from random import Random

import pytest

from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.client.producer.accumulator import Accumulator, Appended
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.settings import BatchingSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record
from logquake.wire.uuids import ZERO_UUID

NODE = 1
INFO = TopicInfo(ZERO_UUID, ErrorCode.NONE, {0: PartitionInfo(NODE, 0, ErrorCode.NONE)})
LEADERS = Leaders(Snapshot({NODE: Node(NODE, "one", 9092)}, {"t": INFO}))


@pytest.mark.parametrize("seed", range(50))
def test_a_retry_leaves_when_it_was_said_to_be_ready(seed: int) -> None:
    """However its back-off was drawn: nobody would look for it again."""
    accumulator = Accumulator(BatchingSettings(), Unnumbered(), Random(seed))
    now_ms = 0
    appended = accumulator.append("t", 0, Record(0, now_ms, None, b"v"), LEADERS, now_ms)
    assert isinstance(appended, Appended)
    for _ in range(5):
        (batch,) = accumulator.drain(NODE, LEADERS, 1_000, now_ms)
        accumulator.try_again(batch, now_ms)
        while NODE not in (ready := accumulator.ready(LEADERS, now_ms)).nodes:
            assert ready.wait_ms
            now_ms += ready.wait_ms
