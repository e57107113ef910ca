"""Rows of one task on their way to their topics, on an executor.

A task that Spark runs again has all of its rows again: here they are written at least once, in
exactly_once.py once. Within a task nothing is doubled (the producer is idempotent), and what goes
to one partition keeps its order, but for rows that name no partition and have no key: they go to
any, and may overtake others there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.deliveries import Deliveries
from logquake.pipeline.sink.one_by_one import send_one_by_one
from logquake.pipeline.sink.task_clients import Sending

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = ("string", "binary")
TYPES = {
    "key": TEXT,
    "value": TEXT,
    "topic": ("string",),
    "partition": ("int",),
    "timestamp": ("timestamp",),
    "headers": ("array<struct<key:string,value:binary>>",),
}


def check_columns(types: Mapping[str, str], topic: str | None) -> None:
    """``types`` as Spark names them, by column. Raises OptionError."""
    if "value" not in types:
        raise OptionError("a column value is needed, of binary or string")
    if topic is None and "topic" not in types:
        raise OptionError("a topic is needed: an option, or a column of that name")
    for name, allowed in TYPES.items():
        if name in types and types[name] not in allowed:
            raise OptionError(
                f"column {name} is {types[name]}, and has to be {' or '.join(allowed)}"
            )


def write_at_least_once(
    producer: Sending, batches: Iterable[pa.RecordBatch], topic: str | None
) -> None:
    """``topic`` goes before a row's own. Raises ClientError, OptionError."""
    deliveries = Deliveries()
    send_batches(producer, batches, topic, deliveries)
    producer.flush()
    deliveries.check()


def send_batches(
    producer: Sending,
    batches: Iterable[pa.RecordBatch],
    topic: str | None,
    deliveries: Deliveries,
) -> set[str]:
    """The topics that they go to. Raises ClientError, OptionError.

    Nothing is sent after rows that are known to have failed (KafkaRowWriter.checkForErrors): others
    to a topic that is not known would wait as long as those before.
    """
    from logquake.pipeline.sink.encoding.plain import UNUSUAL, rows_by_topic

    topics: set[str] = set()
    for batch in batches:
        try:
            together = rows_by_topic(batch, topic)
        except UNUSUAL:
            topics |= send_one_by_one(producer, batch, topic, deliveries)
            continue
        for wanted, rows in together:
            deliveries.check()
            topics.add(wanted)
            try:
                producer.send_rows(wanted, rows, deliveries.failed)
            except ValueError as error:
                raise OptionError(f"a row of {wanted} cannot be written: {error}") from error
    return topics
