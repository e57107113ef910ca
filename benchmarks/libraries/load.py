"""What a client is asked to do in one run, and what it is set to: the same for all of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

LINGER_MS = 5
BATCH_BYTES = 16 * 1024
BUFFER_BYTES = 32 * 1024 * 1024


class Library(StrEnum):
    OURS = "logquake"
    OURS_AIO = "logquake aio"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    CONFLUENT = "confluent-kafka"


class Work(StrEnum):
    PRODUCE = "produce"
    CONSUME = "consume"


@dataclass(frozen=True, slots=True)
class Load:
    """To produce, records of ``record_bytes``, as many as there is time for, up to ``records``.

    ``one_in_flight``: each is waited for. Acks are those of all, and sequences are numbered. To
    consume, those that the topic has.
    """

    bootstrap: str
    topic: str
    record_bytes: int
    records: int
    max_seconds: float
    one_in_flight: bool = False
    work: Work = Work.PRODUCE

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Self:
        return cls(**json.loads(text))
