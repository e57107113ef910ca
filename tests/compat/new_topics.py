"""Making topics on a Kafka that has just started."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.waiting import wait_for

TRY_S = 10


def create(servers: str, new: NewTopic) -> None:
    """Ask until it is there.

    Anew each time: Kafka takes connections before it has a controller, and librdkafka may then
    wait for one that nobody tells it of.
    """

    def is_there() -> bool:
        admin = AdminClient({"bootstrap.servers": servers})
        try:
            admin.create_topics([new], request_timeout=TRY_S)[new.topic].result(2 * TRY_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
            # The answer to an earlier try was lost.
        return True

    wait_for(f"topic {new.topic}", is_there, unready=(KafkaException, TimeoutError))
