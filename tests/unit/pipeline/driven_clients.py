"""A task's clients, driven by whoever calls them: no thread, and time passes when they wait."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from random import Random
from typing import Generic, TypeVar

from logquake.client.admin import ByBroker, ConsumerGroupListing
from logquake.client.admin.administering import Administering
from logquake.client.assembling import Foundation
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.driven import Core
from logquake.client.driving.steps import Call, Steps, Wait, to_the_end
from logquake.client.errors import ClientError
from logquake.client.pending import Promise
from logquake.client.producer.appending.preparing import OnDelivery
from logquake.client.producer.producing import Producing
from logquake.client.producer.record import Headers
from logquake.client.producer.runs import OnFailure, Rows
from logquake.client.telling import Telling
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeNetwork

T = TypeVar("T")

_FOR_EVER_MS = 1 << 62


class Died(BaseException):
    """Of a process nothing more is heard, whatever it meant to do at its end."""


class CallersDriver:
    def __init__(
        self, foundation: Foundation, core: Core, telling: Telling, network: FakeNetwork
    ) -> None:
        self._core = core
        self._telling = telling
        self._driver = BlockingDriver(foundation.links, network.new_sockets(), foundation.clock)
        self._is_dead = False

    def run(self, steps: Steps[T]) -> T:
        """Raises Died, too, for whatever is called after it."""
        return to_the_end(steps, self._carry_out)

    def _carry_out(self, step: Wait | Call, steps: Steps[T]) -> Callable[[], Wait | Call]:
        if isinstance(step, Call):
            return partial(steps.send, step.function())
        return partial(steps.send, self._wait(step))

    def _wait(self, step: Wait) -> bool:
        def is_done() -> bool:
            self._telling.tell()
            return step.is_done()

        if self._is_dead:
            raise Died
        try:
            return self._driver.run(self._core, is_done, step.deadline_ms)
        except Died:
            self._is_dead = True
            raise

    def close(self) -> None:
        self._driver.close()


class Answer(Generic[T]):
    def __init__(self, promise: Promise[T], driver: CallersDriver) -> None:
        self._promise = promise
        self._driver = driver

    def result(self) -> T:
        self._driver.run(self._until_it_is_there())
        outcome = self._promise.outcome
        if isinstance(outcome, ClientError):
            raise outcome
        return outcome

    def _until_it_is_there(self) -> Steps[None]:
        yield Wait(lambda: self._promise.is_done, _FOR_EVER_MS)


class DrivenAdmin:
    """Satisfies `ReadingMarks`."""

    def __init__(self, keys: Mapping[str, str], network: FakeNetwork) -> None:
        self._calls = Administering(keys, {}, clock=network.clock, random=Random(0))
        self._driver = CallersDriver(
            self._calls.foundation, self._calls.core, self._calls.telling, network
        )

    def list_consumer_group_offsets(
        self,
        groups: Mapping[str, Collection[TopicPartition] | None],
        *,
        require_stable: bool = False,
    ) -> dict[str, Answer[Mapping[TopicPartition, OffsetAndMetadata | None]]]:
        asked = self._calls.list_consumer_group_offsets(groups, require_stable=require_stable)
        return {group: Answer(promise, self._driver) for group, promise in asked.items()}

    def list_consumer_groups(self) -> Answer[ByBroker[ConsumerGroupListing]]:
        return Answer(self._calls.list_consumer_groups(), self._driver)

    def close(self) -> None:
        self._driver.close()


class DrivenProducer:
    """Satisfies `Sending`."""

    def __init__(self, keys: Mapping[str, str], network: FakeNetwork) -> None:
        self._producing = Producing(keys, None, clock=network.clock, random=Random(0))
        self._driver = CallersDriver(
            self._producing.foundation, self._producing.core, self._producing.telling, network
        )

    def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers = (),
        on_delivery: OnDelivery | None = None,
    ) -> None:
        outgoing = self._producing.prepare(
            topic, value, key, partition, timestamp_ms, headers, on_delivery
        )
        if self._producing.appending.at_once(outgoing) is None:
            self._driver.run(self._producing.appending.in_time(outgoing))

    def send_rows(self, topic: str, rows: Rows, on_failure: OnFailure) -> None:
        self._driver.run(self._producing.appending_rows.in_time(topic, rows, on_failure))

    def flush(self) -> None:
        self._driver.run(self._producing.flush(None))

    def init_transactions(self) -> None:
        self._driver.run(self._producing.transactions.init())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """As that of `Producer`."""
        transactions = self._producing.transactions
        self._driver.run(transactions.begin())
        try:
            yield
            self._driver.run(transactions.commit())
        except BaseException:
            with suppress(ClientError):
                self._driver.run(transactions.abort())
            raise

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group_metadata: ConsumerGroupMetadata,
    ) -> None:
        self._driver.run(self._producing.transactions.send_offsets(offsets, group_metadata))

    def close(self) -> None:
        self._driver.close()
