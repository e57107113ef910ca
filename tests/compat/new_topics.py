"""Making topics on a Kafka that has just started."""

from __future__ import annotations

import time

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

CREATED_S = 90
TRY_S = 10


def create(servers: str, new: NewTopic) -> None:
    """Ask until it is there.

    Anew each time: Kafka takes connections before it has a controller, and librdkafka may then
    wait for one that nobody tells it of.
    """
    deadline = time.monotonic() + CREATED_S
    while True:
        admin = AdminClient({"bootstrap.servers": servers})
        try:
            admin.create_topics([new], request_timeout=TRY_S)[new.topic].result(2 * TRY_S)
        except (KafkaException, TimeoutError) as error:
            if _exists_already(error):  # the answer to an earlier try was lost
                return
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def _exists_already(error: Exception) -> bool:
    return (
        isinstance(error, KafkaException)
        and error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    )
