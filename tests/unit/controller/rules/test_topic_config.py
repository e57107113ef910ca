"""Topic configuration: what Kafka takes and refuses, with its words."""

from __future__ import annotations

import pytest

from logquake.controller.rules.config_def import InvalidConfig
from logquake.controller.rules.topic_config import check_new_topic


def refusal(config: dict[str, str | None]) -> str | None:
    """What Kafka says of it, where it does not take it."""
    try:
        check_new_topic(config)
    except InvalidConfig as refused:
        return str(refused)
    return None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cleanup.policy", "compact, delete"),
        ("cleanup.policy", ""),
        ("compression.type", "zstd"),
        ("compression.gzip.level", "-1"),
        ("retention.ms", "-1"),
        ("retention.bytes", "-9223372036854775808"),
        ("segment.bytes", "14"),
        ("max.message.bytes", " 1048588 "),
        ("min.cleanable.dirty.ratio", "1e-1"),
        ("unclean.leader.election.enable", "TRUE"),
        ("leader.replication.throttled.replicas", "0:1, 1:2"),
        ("follower.replication.throttled.replicas", "*"),
        ("remote.storage.enable", "false"),
        ("message.format.version", "0.9.0.1"),
        ("message.format.version", "2.8-IV1"),
        ("message.format.version", "3.9.1"),
    ],
)
def test_taken(name: str, value: str) -> None:
    assert refusal({name: value}) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("retention.sm", "1", "Unknown topic config name: retention.sm"),
        (
            "retention.ms",
            "-2",
            "Invalid value -2 for configuration retention.ms: Value must be at least -1",
        ),
        (
            "compression.gzip.level",
            "0",
            "Invalid value 0 for configuration compression.gzip.level: "
            "Value must be between 1 and 9 or equal to -1",
        ),
        (
            "segment.bytes",
            "2147483648",
            "Invalid value 2147483648 for configuration segment.bytes: Not a number of type INT",
        ),
        (
            "segment.bytes",
            "1_000",
            "Invalid value 1_000 for configuration segment.bytes: Not a number of type INT",
        ),
        (
            "message.format.version",
            "2.8-IV2",
            "Invalid value 2.8-IV2 for configuration message.format.version: "
            "Version 2.8-IV2 is not a valid version",
        ),
        (
            "message.format.version",
            "0.9",
            "Invalid value 0.9 for configuration message.format.version: "
            "Version 0.9 is not a valid version",
        ),
        (
            "retention.ms",
            "1.5",
            "Invalid value 1.5 for configuration retention.ms: Not a number of type LONG",
        ),
        (
            "min.cleanable.dirty.ratio",
            "1.5",
            "Invalid value 1.5 for configuration min.cleanable.dirty.ratio: "
            "Value must be no more than 1",
        ),
        (
            "preallocate",
            "yes",
            "Invalid value yes for configuration preallocate: "
            "Expected value to be either true or false",
        ),
        (
            "cleanup.policy",
            "delete,shred",
            "Invalid value shred for configuration cleanup.policy: "
            "String must be one of: compact, delete",
        ),
        ("segment.ms", None, "Null value not supported for topic configs: segment.ms"),
    ],
)
def test_refused(name: str, value: str | None, message: str) -> None:
    assert refusal({name: value}) == message


def test_compaction_lags_must_not_cross() -> None:
    with pytest.raises(InvalidConfig, match="conflict topic config setting"):
        check_new_topic({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "9"})


def test_tiered_storage_is_not_there() -> None:
    with pytest.raises(InvalidConfig, match="Tiered Storage functionality is disabled"):
        check_new_topic({"remote.storage.enable": "true"})


@pytest.mark.parametrize("value", ["0", "0:", ":1", "a:1", "0:1;1:2"])
def test_throttled_replicas_are_pairs(value: str) -> None:
    with pytest.raises(InvalidConfig, match="must be the literal"):
        check_new_topic({"leader.replication.throttled.replicas": value})
