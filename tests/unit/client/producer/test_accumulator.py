"""What holds of an accumulator whatever is drawn at random; scripts play the rest."""

from __future__ import annotations

import sys
from collections import deque
from random import Random
from types import FrameType

import pytest

from logquake.client.errors import ConnectionLostError
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import PartitionInfo, Snapshot, TopicInfo
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, Appended
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.filling import Filling, Form
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.queues import Queue
from logquake.client.producer.settings import BatchingSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID

NODE = 1
INFO = TopicInfo(ZERO_UUID, ErrorCode.NONE, {0: PartitionInfo(NODE, 0, ErrorCode.NONE)})
LEADERS = Leaders(Snapshot({NODE: Node(NODE, "one", 9092)}, {"t": INFO}))


def led(partitions: int) -> Leaders:
    """All of a topic's partitions, by one broker."""
    infos = {each: PartitionInfo(NODE, 0, ErrorCode.NONE) for each in range(partitions)}
    topics = {"t": TopicInfo(ZERO_UUID, ErrorCode.NONE, infos)}
    return Leaders(Snapshot({NODE: Node(NODE, "one", 9092)}, topics))


def test_nothing_goes_to_partitions_that_a_topic_made_again_has_not() -> None:
    """Though they had batches, which wait."""
    accumulator = Accumulator(BatchingSettings(batch_bytes=100), Unnumbered(), Random(1))
    record = Record(0, 0, None, b"x" * 100)
    for partition in (0, 0, 1, 2, 3):
        accumulator.append(RECORDS, "t", partition, record, led(4), 0)
    accumulator.ready(led(2), 0)
    chosen = set()
    for _ in range(50):
        appended = accumulator.append(RECORDS, "t", None, record, led(2), 0)
        assert isinstance(appended, Appended)
        chosen.add(appended.place.partition)
    assert chosen == {0, 1}


def test_an_open_batch_of_a_partition_that_its_topic_has_no_more_takes_nothing() -> None:
    accumulator = Accumulator(BatchingSettings(), Unnumbered(), Random(2))
    record = Record(0, 0, None, b"x")
    before = accumulator.append(RECORDS, "t", None, record, led(1_000), 0)
    assert isinstance(before, Appended)
    assert before.place.partition >= 2
    accumulator.ready(led(2), 0)
    assert accumulator.append_to_open("t", record, lambda: led(2)) is None
    after = accumulator.append(RECORDS, "t", None, record, led(2), 0)
    assert isinstance(after, Appended)
    assert after.place.partition < 2


def test_a_batch_that_is_open_is_filled_though_its_topic_has_no_partitions_any_more() -> None:
    record = Record(0, 0, None, b"x" * 100)
    room = Filling(Form(10_000))
    assert [room.try_add(record), room.try_add(record)] == [0, 1]
    settings = BatchingSettings(batch_bytes=room.estimated_bytes)
    accumulator = Accumulator(settings, Unnumbered(), Random(1))
    accumulator.append(RECORDS, "t", None, record, led(1), 0)
    appended = accumulator.append_to_open("t", record, lambda: led(0))
    assert appended is not None
    assert appended.wakes
    assert accumulator.append_to_open("t", record, lambda: led(0)) is None


class Interrupting:
    """Raises at a line of a module of the producer's, as a handler of a signal may. To be traced
    by.
    """

    def __init__(self, lines: int) -> None:
        self._left = lines

    def __call__(self, frame: FrameType, event: str, _arg: object) -> Interrupting:
        if event == "line" and "/client/producer/" in frame.f_code.co_filename:
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt
        return self


def test_memory_and_order_are_kept_wherever_an_append_is_interrupted() -> None:
    lines, interrupted = 0, True
    while interrupted:
        lines += 1
        accumulator = Accumulator(BatchingSettings(batch_bytes=100), Unnumbered(), Random(1))
        interrupted = append_with(accumulator, Interrupting(lines))
        taken_bytes = accumulator.memory.total_bytes - accumulator.memory.available_bytes
        assert taken_bytes == 100 * accumulator.has_undrained, lines
        assert accumulator.memory.waiting == 0, lines
        assert accumulator.has_incomplete == accumulator.has_undrained, lines
    assert lines > 20


def append_with(accumulator: Accumulator, interrupting: Interrupting) -> bool:
    """Whether it was interrupted."""
    before = sys.gettrace()
    sys.settrace(interrupting)
    try:
        accumulator.append(RECORDS, "t", None, Record(0, 0, None, b"v"), LEADERS, 0)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("seed", range(50))
def test_a_retry_leaves_when_it_was_said_to_be_ready(seed: int) -> None:
    """However its back-off was drawn: nobody would look for it again."""
    accumulator = Accumulator(BatchingSettings(), Unnumbered(), Random(seed))
    now_ms = 0
    appended = accumulator.append(RECORDS, "t", 0, Record(0, now_ms, None, b"v"), LEADERS, now_ms)
    assert isinstance(appended, Appended)
    for _ in range(5):
        (batch,) = accumulator.drain(NODE, LEADERS, 1_000, now_ms)
        accumulator.try_again(batch, ConnectionLostError("lost"), now_ms)
        while NODE not in (ready := accumulator.ready(LEADERS, now_ms)).nodes:
            assert ready.wait_ms
            now_ms += ready.wait_ms


def test_what_is_put_back_goes_in_the_order_of_its_making_whoever_failed_first() -> None:
    """Of two of one moment as they were put back, and ahead of what was not sent yet."""
    queue: Queue = deque()
    made = [ProducerBatch(TopicPartition("t", 0), ms, Form(1_000)) for ms in (1, 2, 2, 3, 3)]
    unsent = made.pop()
    queue.append(unsent)
    for index in (3, 1, 0, 2):
        made[index].will_retry(ConnectionLostError("lost"), 5, 100)
        Unnumbered().put_back(queue, made[index])
    assert list(queue) == [*made, unsent]
