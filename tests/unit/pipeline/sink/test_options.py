"""The options and columns of a write."""

from __future__ import annotations

import pytest

from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.options import parse_write_options
from logquake.pipeline.sink.writing import check_columns

NEEDED = {"kafka.bootstrap.servers": "a:1"}


def test_the_defaults_promise_what_is_acked() -> None:
    options = parse_write_options(NEEDED)
    assert options.producer["acks"] == "all"
    assert options.producer["enable.idempotence"] == "true"
    assert options.topic is None


def test_options_are_kafkas() -> None:
    given = {
        "topic": "t",
        "kafka.compression.type": "zstd",
        "kafka.SSL.key.password": "hush",
        "kafka.default.api.timeout.ms": "30000",
    }
    options = parse_write_options(NEEDED | given)
    assert options.topic == "t"
    assert options.producer["compression.type"] == "zstd"
    assert options.producer["ssl.key.password"] == options.admin["ssl.key.password"] == "hush"
    assert options.admin["default.api.timeout.ms"] == "30000"
    assert "hush" not in repr(options)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("acks", "1", "kafka.acks has to be all"),
        ("enable.idempotence", "false", "what is acked has to stay"),
        ("transactional.id", "x", "transactionalIdPrefix say"),
        ("value.serializer", "x", "cast the column"),
        ("compression.type", "best", "kafka.compression.type='best' is not allowed"),
        ("max.poll.records", "1", "no key of a producer"),
    ],
)
def test_what_is_not_a_writes_to_say_is_refused(key: str, value: str, why: str) -> None:
    with pytest.raises(OptionError, match=why):
        parse_write_options(NEEDED | {f"kafka.{key}": value})
    assert parse_write_options(NEEDED | {"kafka.acks": "-1"}).producer["acks"] == "all"


def test_an_option_that_says_nothing_here_is_refused() -> None:
    with pytest.raises(OptionError, match="unknown options: subscribe"):
        parse_write_options(NEEDED | {"subscribe": "t"})


def test_columns_have_to_be_what_a_record_has() -> None:
    check_columns({"value": "string", "offset": "bigint"}, "t")
    check_columns({"value": "binary", "topic": "string", "key": "binary"}, None)
    for types in ({"key": "string"}, {"value": "int"}, {"value": "string", "partition": "bigint"}):
        with pytest.raises(OptionError):
            check_columns(types, "t")
    with pytest.raises(OptionError, match="a topic is needed"):
        check_columns({"value": "string"}, None)


def test_what_is_written_once_has_a_name() -> None:
    given = {"deliveryGuarantee": "Exactly-Once", "transactionalIdPrefix": "load"}
    options = parse_write_options(NEEDED | given)
    assert (options.is_exactly_once, options.prefix) == (True, "load")
    assert not parse_write_options(NEEDED).is_exactly_once
    for refused in ({"transactionalIdPrefix": "load"}, {"deliveryGuarantee": "twice"}):
        with pytest.raises(OptionError):
            parse_write_options(NEEDED | refused)
