"""The options and columns of a write."""

from __future__ import annotations

import pytest

from logquake.pipeline.option_values import OptionError
from logquake.pipeline.write_options import BATCH_BYTES, parse_write_options
from logquake.pipeline.writing import check_columns
from logquake.wire.records import Codec

NEEDED = {"kafka.bootstrap.servers": "a:1"}


def test_the_defaults_promise_what_is_acked() -> None:
    options = parse_write_options(NEEDED)
    assert options.producer.acks == -1
    assert options.producer.enable_idempotence
    assert (options.topic, options.batch_bytes) == (None, BATCH_BYTES)


def test_options_are_kafkas() -> None:
    given = {"topic": "t", "kafka.compression.type": "ZSTD", "kafka.batch.size": "10"}
    options = parse_write_options(NEEDED | given)
    assert (options.topic, options.batch_bytes) == ("t", 10)
    assert options.producer.compression_type is Codec.ZSTD


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
