"""From the outbox to Kafka: the relay that ran for a year, and the one that replaced it."""

from __future__ import annotations

from confluent_kafka import KafkaError, Producer
from confluent_kafka import Message as Sent

from orders.shop import Message, Shop

FLUSH_S = 1.0

RELIABLE = {
    "acks": "all",
    "max.in.flight.requests.per.connection": 1,  # a customer's orders stay in their order
}


class HastyRelay:
    """Passed every test that had no Kafka in it, and every one with a Kafka that was well.

    flush() waits for at most so long and says how much is left; nobody asks. What is left then is
    thrown away with the producer, and the outbox says that it was told.
    """

    def __init__(self, shop: Shop, kafka: dict[str, str], topic: str) -> None:
        self._shop = shop
        self._kafka = kafka
        self._topic = topic

    def run_once(self) -> None:
        messages = self._shop.untold()
        producer = Producer({**RELIABLE, **self._kafka})
        for message in messages:
            producer.produce(self._topic, key=message.key, value=message.value)
        producer.flush(FLUSH_S)
        self._shop.mark_told(message.id for message in messages)


class CarefulRelay:
    """A message was told when Kafka said so of this very message; until then it stays.

    One producer for as long as the relay lives: what is under way is not sent again. A relay that
    dies may have sent what it did not mark: whoever reads has to know orders by their ids.
    """

    def __init__(self, shop: Shop, kafka: dict[str, str], topic: str) -> None:
        self._shop = shop
        self._topic = topic
        self._producer = Producer({**RELIABLE, **kafka, "enable.idempotence": True})
        self._under_way: set[int] = set()
        self._told: list[int] = []

    def run_once(self) -> None:
        for message in self._shop.untold():
            if message.id not in self._under_way:
                self._send(message)
        self._producer.flush(FLUSH_S)
        self._shop.mark_told(self._told)
        self._told.clear()

    def _send(self, message: Message) -> None:
        def answered(error: KafkaError | None, _: Sent) -> None:
            self._under_way.discard(message.id)
            if error is None:
                self._told.append(message.id)

        self._under_way.add(message.id)
        self._producer.produce(
            self._topic, key=message.key, value=message.value, on_delivery=answered
        )
