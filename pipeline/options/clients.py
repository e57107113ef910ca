"""Options that begin with `kafka.`: Kafka's own keys, for the clients that a read or a write has.

They are checked where Spark asks for a plan, and travel to the executors as they were given: what
they say of files and hosts has to hold there too. What the source or the sink itself decides is
refused, as by Spark's Kafka connector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from logquake.client.errors import SettingsError
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.keys import name_of
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import Table, read
from logquake.pipeline.options.functions import with_functions
from logquake.pipeline.options.values import OptionError, by_known_name

Keys = Mapping[str, str]
"""Kafka's, with dots and without the prefix."""

PREFIX = "kafka."
_CLIENT_ID = {"client.id": "logquake-spark"}
_NOT_OF_A_READ = {
    "auto.offset.reset": "startingOffsets and endingOffsets say where a read begins and ends",
    "enable.auto.commit": "nothing is committed: a stream's checkpoint keeps where it is",
    "group.id": "partitions are shared out by Spark, in no group",
    "interceptor.classes": "rows are as they are stored",
    "key.deserializer": "keys are bytes: cast the column",
    "value.deserializer": "values are bytes: cast the column",
}
_NOT_OF_A_WRITE = {
    "interceptor.classes": "rows are written as they are",
    "key.serializer": "keys are bytes or text: cast the column",
    "value.serializer": "values are bytes or text: cast the column",
    "transactional.id": "deliveryGuarantee and transactionalIdPrefix say it",
}
# A task takes longer than this: it is aborted. One that died and is not run again keeps readers of
# committed records waiting for so long. Brokers allow 15 minutes by default.
TRANSACTION_TIMEOUT_MS = 10 * 60_000
# Rows are all there at once: whole batches are worth waiting for, and a task's end hurries them.
_USUAL_OF_A_WRITE = _CLIENT_ID | {
    "batch.size": str(256 * 1024),
    "linger.ms": "100",
    "transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
}
_OF_A_WRITE = {"acks": "all", "enable.idempotence": "true"}
_SPELT = {"acks": ("all", "-1"), "enable.idempotence": ("true",)}
# A task reads one partition, as fast as it can; a batch that is larger comes all the same.
_OF_A_READ = {"auto.offset.reset": "none"}
_USUAL_OF_A_READ = _CLIENT_ID | {
    "allow.auto.create.topics": "false",
    "max.partition.fetch.bytes": str(4 * 1024 * 1024),
}


def parted(options: Mapping[str, str], known: Iterable[str]) -> tuple[Keys, dict[str, str]]:
    """Kafka's keys, and the others under the names that they are documented by.

    Spark's options know no case; Kafka's keys have no capitals. Raises OptionError.
    """
    kafka, others = {}, {}
    for name, value in options.items():
        if name.lower().startswith(PREFIX):
            kafka[name_of(name.lower().removeprefix(PREFIX))] = value
        else:
            others[name] = value
    return kafka, by_known_name(others, known)


def consumer_keys(kafka: Keys) -> Keys:
    """All that a read's consumers are set to. Raises OptionError."""
    _refuse(kafka, _NOT_OF_A_READ)
    keys = _USUAL_OF_A_READ | dict(kafka) | _OF_A_READ
    _check(ConsumerConfig, keys)
    return keys


def producer_keys(kafka: Keys) -> Keys:
    """All that a write's producers are set to, but for ids. Raises OptionError."""
    _refuse(kafka, _NOT_OF_A_WRITE)
    for key, value in _OF_A_WRITE.items():
        if kafka.get(key, value).lower() not in _SPELT[key]:
            raise OptionError(f"{PREFIX}{key} has to be {value}: what is acked has to stay")
    of_admins_alone = _known_to(AdminConfig, kafka).keys() - _known_to(ProducerConfig, kafka)
    of_producers = {key: kafka[key] for key in kafka if key not in of_admins_alone}
    keys = _USUAL_OF_A_WRITE | of_producers | _OF_A_WRITE
    _check(ProducerConfig, keys)
    return keys


def admin_keys(kafka: Keys) -> Keys:
    """Those that an admin client has too. Raises OptionError."""
    keys = _CLIENT_ID | dict(_known_to(AdminConfig, kafka))
    _check(AdminConfig, keys)
    return keys


def _refuse(kafka: Keys, refused: Keys) -> None:
    for key, why in refused.items():
        if key in kafka:
            raise OptionError(f"{PREFIX}{key} cannot be set: {why}")


def _check(table: type[Table], keys: Keys) -> None:
    if not keys.get("bootstrap.servers"):
        raise OptionError(f"{PREFIX}bootstrap.servers is needed")
    try:
        read(table, with_functions(keys))
    except SettingsError as error:
        raise OptionError(f"{PREFIX}{error}") from error


def _known_to(table: type[Table], keys: Keys) -> Keys:
    known = {name_of(each.name) for each in fields(table)}
    return {key: value for key, value in keys.items() if key in known}
