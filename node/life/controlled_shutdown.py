"""Leaving without being missed: ask the controller to move leaderships away before stopping.

controlled.shutdown.max.retries and controlled.shutdown.retry.backoff.ms bound the attempts; when
they are used up the broker stops all the same, and the controller notices its absence. While no
controller is known, an attempt looks for one again and again for as long as the back-off lasts: an
election takes less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.controller_link import ControllerRequests
from logquake.node.journal_events import CONTROLLED_SHUTDOWN
from logquake.seams.journal import Event, Journal
from logquake.seams.network import Channel, Disconnected
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode, error_name
from logquake.wire.messages.broker_to_controller import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from logquake.wire.schema import Message

_VERSION = 3


@dataclass(frozen=True, slots=True)
class ControlledShutdownSettings:
    enabled: bool = True  # controlled.shutdown.enable
    max_retries: int = 3  # controlled.shutdown.max.retries
    retry_backoff_ms: int = 5_000  # controlled.shutdown.retry.backoff.ms
    attempt_timeout_ms: int = 30_000  # controller.socket.timeout.ms


class ControlledShutdown:
    """One shutdown of one broker: run it once; done is called when the broker may stop.

    ``broker_epoch`` is asked at each attempt: a session that ends meanwhile brings another one.
    """

    def __init__(
        self,
        settings: ControlledShutdownSettings,
        broker_id: int,
        broker_epoch: Callable[[], int],
        controller: ControllerRequests,
        scheduler: Scheduler,
        journal: Journal,
        done: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._controller = controller
        self._scheduler = scheduler
        self._journal = journal
        self._done = done
        self._attempts_left = 1 + settings.max_retries if settings.enabled else 0
        self._attempt = 0

    def run(self) -> None:
        if self._attempts_left == 0:
            self._done()
            return
        self._attempts_left -= 1
        self._attempt += 1
        patience_ms = self._settings.retry_backoff_ms if self._attempts_left else 0
        self._controller.find(self._ask_if_known, patience_ms)

    def _ask_if_known(self, channel: Channel | None) -> None:
        if channel is not None:
            self._ask(channel)
        elif self._attempts_left == 0:
            self._finish("no controller is known; giving up")
        else:
            self.run()  # the back-off is over already

    def _ask(self, channel: Channel) -> None:
        this_attempt = self._attempt
        timer = self._scheduler.call_later(
            self._settings.attempt_timeout_ms, lambda: self._on_answer(this_attempt, None)
        )

        def answered(answer: Message | Disconnected) -> None:
            timer.cancel()
            self._on_answer(this_attempt, answer)

        request = ControlledShutdownRequest(
            broker_id=self._broker_id, broker_epoch=self._broker_epoch()
        )
        channel.send(request, _VERSION, answered)

    def _on_answer(self, attempt: int, answer: Message | Disconnected | None) -> None:
        if attempt != self._attempt:
            return  # given up on before
        match answer:
            case ControlledShutdownResponse(error_code=ErrorCode.NONE, remaining_partitions=[]):
                self._finish("every leadership was moved")
            case ControlledShutdownResponse():
                left = len(answer.remaining_partitions)
                self._retry(f"{error_name(answer.error_code)}, {left} partitions still led")
            case Disconnected(reason):
                self._retry(reason)
            case _:
                self._retry("the controller did not answer in time")

    def _retry(self, why: str) -> None:
        self._attempt += 1  # an answer that still comes is late
        if self._attempts_left == 0:
            self._finish(f"{why}; giving up")
        else:
            self._scheduler.call_later(self._settings.retry_backoff_ms, self.run)

    def _finish(self, why: str) -> None:
        subject = f"broker-{self._broker_id}"
        self._journal.record(Event(what=CONTROLLED_SHUTDOWN, subject=subject, why=why))
        self._done()
