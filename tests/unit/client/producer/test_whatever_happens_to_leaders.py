"""The same while leaders move between brokers, who answer in any order, take small batches alone,
and may yet write what was asked on a connection that is gone.
"""

from __future__ import annotations

from collections import deque

import pytest

from logquake.client.network.effects import Close, Connect, Effect
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataResponse
from logquake.wire.messages.produce import ProduceRequest
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import UNKNOWN_OFFSET
from tests.unit.client.producer.test_whatever_happens import (
    LONG_MS,
    PARTITIONS,
    SHORT_MS,
    Run,
    check,
    cluster_of,
)

BROKERS = [1, 2, 3]
MOST = 2  # records in a batch


class MovingRun(Run):
    def __init__(self, seed: int, delivery_timeout_ms: int) -> None:
        self._leaders = BROKERS[:PARTITIONS]
        self._epoch = 1
        self._asks: dict[int, int] = {}  # the broker, by link
        self._asked = 1  # who answers now
        self._late: deque[tuple[int, ProduceRequest]] = deque()
        super().__init__(seed, delivery_timeout_ms)

    def _something_happens(self) -> None:
        if self.is_calm:
            self._late.clear()
        elif self._random.random() < 0.05:
            self._leaders[self._random.randrange(PARTITIONS)] = self._random.choice(BROKERS)
            self._epoch += 1
        if self._late and self._random.random() < 0.3:
            self._asked, request = self._late.popleft()
            self._apply(request, is_refused=False)
        super()._something_happens()

    def _answer_one(self) -> None:
        link = self._random.choice([link for link, *_ in self._waiting])
        first = next(each for each in self._waiting if each[0] == link)
        self._waiting.remove(first)
        self._waiting.appendleft(first)
        self._asked = self._asks[link]
        super()._answer_one()

    def _take(
        self, partition: int, header: BatchHeader, values: list[bytes | None]
    ) -> tuple[ErrorCode, int]:
        if self._leaders[partition] != self._asked:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER, UNKNOWN_OFFSET
        if header.record_count > MOST:
            return ErrorCode.MESSAGE_TOO_LARGE, UNKNOWN_OFFSET
        return super()._take(partition, header, values)

    def _do(self, effect: Effect) -> None:
        if isinstance(effect, Connect):
            self._asks[effect.link] = int(effect.host.removeprefix("broker-"))
        super()._do(effect)

    def _closes(self, effect: Close) -> None:
        for link, _, request in self._waiting:
            if link == effect.link and isinstance(request, ProduceRequest):
                self._late.append((self._asks[link], request))
        super()._closes(effect)

    def _cluster(self) -> MetadataResponse:
        return cluster_of(BROKERS, self._leaders, self._epoch)


@pytest.mark.parametrize("delivery_timeout_ms", [LONG_MS, SHORT_MS])
@pytest.mark.parametrize("seed", range(40))
def test_each_record_is_written_once_and_in_order(seed: int, delivery_timeout_ms: int) -> None:
    run = MovingRun(seed, delivery_timeout_ms)
    run.play()
    check(run)
