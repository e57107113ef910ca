"""Producer ids for idempotent producers, handed out from blocks that the controller allots.

A block is written to ZooKeeper before any id of it is used, so that no id is ever given twice,
whatever dies (KIP-730; Kafka's RPCProducerIdManager).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.controller_link import ControllerRequests
from logquake.seams.scheduler import Scheduler, Timer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from logquake.wire.schema import Message

_ALLOCATE_VERSION = 0
_RETRY_BACKOFF_MS = 50  # Kafka's RPCProducerIdManager.RETRY_BACKOFF_MS

Done = Callable[[int | None], None]


@dataclass(slots=True, eq=False)
class _Waiting:
    done: Done
    timer: Timer


class ProducerIds:
    """next() answers an unused producer id, or None when the controller can't be had in time."""

    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        controller: ControllerRequests,
        scheduler: Scheduler,
        *,
        timeout_ms: int,
    ) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._controller = controller
        self._scheduler = scheduler
        self._timeout_ms = timeout_ms
        self._block = range(0)
        self._waiting: deque[_Waiting] = deque()
        self._asking = False

    def next(self, done: Done) -> None:
        if self._block:
            done(self._take())
            return
        timer = self._scheduler.call_later(self._timeout_ms, self._expire_oldest)
        self._waiting.append(_Waiting(done, timer))
        self._ask()

    def _take(self) -> int:
        first, self._block = self._block[0], self._block[1:]
        return first

    def _expire_oldest(self) -> None:
        # All wait equally long, so the timer that fires is always the oldest one's.
        self._waiting.popleft().done(None)

    def _ask(self) -> None:
        if self._asking or not self._waiting:
            return
        self._asking = True
        self._controller.ask(self._request, _ALLOCATE_VERSION, self._on_answer)

    def _request(self) -> AllocateProducerIdsRequest:
        return AllocateProducerIdsRequest(
            broker_id=self._broker_id, broker_epoch=self._broker_epoch()
        )

    def _on_answer(self, answer: Message) -> None:
        if (
            not isinstance(answer, AllocateProducerIdsResponse)
            or answer.error_code != ErrorCode.NONE
        ):
            self._ask_again_later()
            return
        self._asking = False
        start = answer.producer_id_start
        self._block = range(start, start + answer.producer_id_len)
        while self._waiting and self._block:
            waiting = self._waiting.popleft()
            waiting.timer.cancel()
            waiting.done(self._take())
        self._ask()

    def _ask_again_later(self) -> None:
        def again() -> None:
            self._asking = False
            self._ask()

        self._scheduler.call_later(_RETRY_BACKOFF_MS, again)
