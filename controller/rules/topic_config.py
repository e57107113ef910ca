"""The configuration keys of a topic: which exist and which values they take.

Keys, types, bounds and wording are Kafka's (LogConfig's ConfigDef), so that what Kafka refuses is
refused here with the same message. Values are text, as they are in requests and znodes.

Tiered storage (remote.*) is not there: it may only be set to off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from logquake.controller.rules.message_format import is_version

Check = Callable[[str, str], None]

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
LONG_MIN = -(2**63)


class InvalidConfig(Exception):  # noqa: N818 - the request is at fault, not the program
    """A key that does not exist or a value that it does not take; the message is Kafka's."""


def check_topic_config(config: Mapping[str, str | None]) -> None:
    """Raises InvalidConfig."""
    nulls = [name for name, value in config.items() if value is None]
    if nulls:
        raise InvalidConfig(f"Null value not supported for topic configs: {','.join(nulls)}")
    values = {name: value for name, value in config.items() if value is not None}
    for name in values:
        if name not in TOPIC_CONFIG:
            raise InvalidConfig(f"Unknown topic config name: {name}")
    for name, value in values.items():
        TOPIC_CONFIG[name](name, value.strip())
    _check_compaction_lags(values)


def _check_compaction_lags(values: Mapping[str, str]) -> None:
    least = int(values.get("min.compaction.lag.ms", "0"))
    most = int(values.get("max.compaction.lag.ms", str(LONG_MAX)))
    if least > most:
        raise InvalidConfig(
            f"conflict topic config setting min.compaction.lag.ms ({least}) > "
            f"max.compaction.lag.ms ({most})"
        )


def _refuse(name: str, value: object, reason: str = "") -> InvalidConfig:
    return InvalidConfig(
        f"Invalid value {value} for configuration {name}" + (f": {reason}" if reason else "")
    )


def _whole_number(kind: str, smallest: int, largest: int, at_least: int, at_most: int) -> Check:
    def check(name: str, value: str) -> None:
        number = _parse_int(value)
        if number is None or not smallest <= number <= largest:
            raise _refuse(name, value, f"Not a number of type {kind}")
        if number < at_least:
            raise _refuse(name, number, f"Value must be at least {at_least}")
        if number > at_most:
            raise _refuse(name, number, f"Value must be no more than {at_most}")

    return check


def _parse_int(text: str) -> int | None:
    try:
        return None if "_" in text else int(text)  # Java knows no 1_000
    except ValueError:
        return None


def _int(at_least: int, at_most: int = INT_MAX) -> Check:
    return _whole_number("INT", -INT_MAX - 1, INT_MAX, at_least, at_most)


def _gzip_level(name: str, value: str) -> None:
    """CompressionType.GZIP's own validator: 0, no compression at all, is not a level."""
    _int(-INT_MAX - 1)(name, value)
    if int(value) != -1 and not 1 <= int(value) <= 9:
        raise _refuse(name, int(value), "Value must be between 1 and 9 or equal to -1")


def _long(at_least: int) -> Check:
    return _whole_number("LONG", LONG_MIN, LONG_MAX, at_least, LONG_MAX)


def _ratio(name: str, value: str) -> None:
    try:
        number = float(value)
    except ValueError:
        raise _refuse(name, value, "Not a number of type DOUBLE") from None
    if math.isnan(number) or number < 0:
        raise _refuse(name, number, "Value must be at least 0")
    if number > 1:
        raise _refuse(name, number, "Value must be no more than 1")


def _boolean(name: str, value: str) -> None:
    if value.lower() not in ("true", "false"):
        raise _refuse(name, value, "Expected value to be either true or false")


def _false_only(name: str, value: str) -> None:
    _boolean(name, value)
    if value.lower() == "true":
        raise InvalidConfig(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )


def _one_of(*allowed: str) -> Check:
    def check(name: str, value: str) -> None:
        if value not in allowed:
            raise _refuse(name, value, f"String must be one of: {', '.join(allowed)}")

    return check


def _list_of(*allowed: str) -> Check:
    def check(name: str, value: str) -> None:
        for one in (part.strip() for part in value.split(",")) if value else ():
            if one not in allowed:
                raise _refuse(name, one, f"String must be one of: {', '.join(allowed)}")

    return check


def _throttled_replicas(name: str, value: str) -> None:
    """ "*", "none", nothing, or partition:broker pairs (ThrottledReplicaListValidator)."""
    if value in ("", "*", "none"):
        return
    for pair in value.split(","):
        partition, colon, broker = pair.strip().partition(":")
        if not (colon and partition.isdecimal() and broker.isdecimal()):
            raise _refuse(
                name,
                value,
                f"{name} must be the literal '*' or a list of replicas in the following "
                "format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
            )


def _message_format(name: str, value: str) -> None:
    if not is_version(value):
        raise _refuse(name, value, f"Version {value} is not a valid version")


TOPIC_CONFIG: Mapping[str, Check] = {
    "cleanup.policy": _list_of("compact", "delete"),
    "compression.gzip.level": _gzip_level,
    "compression.lz4.level": _int(1, 17),
    "compression.type": _one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    "compression.zstd.level": _int(-131072, 22),
    "delete.retention.ms": _long(0),
    "file.delete.delay.ms": _long(0),
    "flush.messages": _long(1),
    "flush.ms": _long(0),
    "follower.replication.throttled.replicas": _throttled_replicas,
    "index.interval.bytes": _int(0),
    "leader.replication.throttled.replicas": _throttled_replicas,
    "local.retention.bytes": _long(-2),
    "local.retention.ms": _long(-2),
    "max.compaction.lag.ms": _long(1),
    "max.message.bytes": _int(0),
    "message.downconversion.enable": _boolean,
    "message.format.version": _message_format,
    "message.timestamp.after.max.ms": _long(0),
    "message.timestamp.before.max.ms": _long(0),
    "message.timestamp.difference.max.ms": _long(0),
    "message.timestamp.type": _one_of("CreateTime", "LogAppendTime"),
    "min.cleanable.dirty.ratio": _ratio,
    "min.compaction.lag.ms": _long(0),
    "min.insync.replicas": _int(1),
    "preallocate": _boolean,
    "remote.log.copy.disable": _false_only,
    "remote.log.delete.on.disable": _false_only,
    "remote.storage.enable": _false_only,
    "retention.bytes": _long(LONG_MIN),
    "retention.ms": _long(-1),
    "segment.bytes": _int(14),
    "segment.index.bytes": _int(4),
    "segment.jitter.ms": _long(0),
    "segment.ms": _long(1),
    "unclean.leader.election.enable": _boolean,
}
