"""When librdkafka's idempotent producer sends a record twice that no broker can tell is one.

What it lost sight of in one partition it sends under another producer epoch as soon as a request
to another partition is refused because the one before it was. What our own brokers double is told
from that by the epochs (logquake.chaos.checkers.producers).
"""

from __future__ import annotations

from threading import Event

from confluent_kafka import Producer

from logquake.chaos.workloads.clients import IDEMPOTENT
from logquake.wire.errors import ErrorCode
from tests.compat.scripted_leader import Produced, scripted_leader
from tests.waiting import PATIENCE_S

TOPIC = "orders"
TORN, REFUSED = 0, 1  # partitions


class Script:
    """Takes one batch of TORN and loses the answer; then waits for a gap in REFUSED.

    Until that has made the producer begin another epoch, TORN has no leader.
    """

    def __init__(self) -> None:
        self.taken: list[tuple[int, int]] = []  # (epoch, sequence) of what is in TORN's log
        self.torn_came_again = Event()
        self.first_came = Event()
        self._held: list[Produced] = []

    def __call__(self, produced: Produced) -> None:
        epoch, sequence = produced.batch.producer_epoch, produced.batch.base_sequence
        if produced.partition == REFUSED and epoch == 0:
            self._refuse(produced)
        elif produced.partition == REFUSED:
            produced.answer(ErrorCode.NONE)
        elif not self.taken:
            self.taken.append((epoch, sequence))
            produced.lose()
        elif epoch == 0:
            produced.answer(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            self.torn_came_again.set()
        else:
            self.taken.append((epoch, sequence))
            produced.answer(ErrorCode.NONE)

    def _refuse(self, produced: Produced) -> None:
        """The second request is on its way when the first is refused."""
        self._held.append(produced)
        self.first_came.set()
        if len(self._held) == 2:
            self._held[0].answer(ErrorCode.NOT_ENOUGH_REPLICAS)
            self._held[1].answer(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_librdkafka_sends_again_under_another_epoch_what_another_partition_may_have() -> None:
    script = Script()
    with scripted_leader(TOPIC, 2, script) as leader:
        options = {**IDEMPOTENT, "linger.ms": 0, "bootstrap.servers": leader.address}
        producer = Producer(options)
        failed: list[object] = []

        def delivered(error: object, _message: object) -> None:
            if error is not None:
                failed.append(error)

        producer.produce(TOPIC, b"torn", partition=TORN, on_delivery=delivered)
        assert script.torn_came_again.wait(PATIENCE_S)
        producer.produce(TOPIC, b"first", partition=REFUSED, on_delivery=delivered)
        assert script.first_came.wait(PATIENCE_S)
        producer.produce(TOPIC, b"second", partition=REFUSED, on_delivery=delivered)
        assert producer.flush(PATIENCE_S) == 0
    assert not failed
    assert script.taken == [(0, 0), (1, 0)]
