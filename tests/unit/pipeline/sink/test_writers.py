"""What a write is known by when it is run again."""

from __future__ import annotations

import pytest

from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.options import WriteOptions, parse_write_options
from logquake.pipeline.sink.writers import LogquakeStreamWriter, LogquakeWriter


def options(**given: str) -> WriteOptions:
    return parse_write_options(
        {"kafka.bootstrap.servers": "a:1", "deliveryGuarantee": "exactly-once", **given}
    )


def test_what_is_given_goes_before_all() -> None:
    named = options(transactionalIdPrefix="load")
    for writer in (LogquakeWriter(named), LogquakeStreamWriter(named)):
        assert (writer.prefix(None), writer.prefix("q")) == ("load", "load")


def test_a_stream_is_known_by_its_query() -> None:
    assert LogquakeStreamWriter(options()).prefix("q") == "logquake-q"


def test_a_batch_is_known_to_its_own_tasks_alone() -> None:
    one, other = LogquakeWriter(options()), LogquakeWriter(options())
    assert one.prefix(None) == one.prefix(None) != other.prefix(None)


def test_a_batch_amid_a_stream_has_to_be_named() -> None:
    with pytest.raises(OptionError, match="foreachBatch takes an option transactionalIdPrefix"):
        LogquakeWriter(options()).prefix("q")
