"""The connector's options: what they mean and which are refused."""

from __future__ import annotations

import pytest

from logquake.pipeline.options.values import OptionError
from logquake.pipeline.source.options import (
    Bound,
    ReadOptions,
    StreamOptions,
    columns_of,
    parse_options,
    parse_stream_options,
)
from logquake.pipeline.source.record_columns import USUAL
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

NEEDED = {"kafka.bootstrap.servers": "a:1,b:2", "subscribe": "t"}


def parse(**options: str) -> ReadOptions:
    return parse_options(NEEDED | options)


def test_the_defaults_are_the_connectors() -> None:
    options = parse()
    assert options.consumer["bootstrap.servers"] == "a:1,b:2"
    assert options.topics == ("t",)
    assert (options.starting, options.ending) == (
        Bound(EARLIEST_TIMESTAMP),
        Bound(LATEST_TIMESTAMP),
    )
    assert options.fail_on_data_loss
    assert options.columns == USUAL


def test_spark_forgets_the_case_of_names() -> None:
    options = parse_options(
        {"KAFKA.bootstrap.SERVERS": "a:1", "SUBSCRIBE": "x, y", "includeheaders": "TRUE"}
    )
    assert options.topics == ("x", "y")
    assert options.columns == (*USUAL, "headers")


def test_offsets_are_given_by_topic_and_partition() -> None:
    options = parse(startingOffsets='{"t": {"0": 23, "1": -2}}', endingOffsets='{"t": {"0": -1}}')
    assert options.starting.at("t", 0) == 23
    assert options.starting.at("t", 1) == EARLIEST_TIMESTAMP
    assert options.ending.at("t", 0) == LATEST_TIMESTAMP
    with pytest.raises(OptionError, match="t-1"):
        options.ending.at("t", 1)


def test_offsets_of_what_is_not_read_are_refused() -> None:
    options = parse(startingOffsets='{"t": {"0": 23, "1": -2}}')
    options.starting.check([TopicPartition("t", 0), TopicPartition("t", 1)])
    with pytest.raises(OptionError, match="of t-1, which is not read"):
        options.starting.check([TopicPartition("t", 0)])


def test_a_time_for_all_goes_before_times_by_partition_and_those_before_offsets() -> None:
    by_partition = '{"t": {"0": 7}}'
    options = parse(
        startingTimestamp="5", startingOffsetsByTimestamp=by_partition, startingOffsets="earliest"
    )
    assert options.starting == Bound(5, is_time=True)
    options = parse(endingOffsetsByTimestamp=by_partition, endingOffsets="latest")
    assert options.ending == Bound(None, {TopicPartition("t", 0): 7}, is_time=True)


def test_partitions_can_be_assigned() -> None:
    options = parse_options({"kafka.bootstrap.servers": "a:1", "assign": '{"t": [2, 0]}'})
    assert options.assigned == {"t": (2, 0)}
    assert options.topics is None


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "exactly one of"),
        ({"subscribe": "t", "assign": "{}"}, "exactly one of"),
        ({"subscribe": " , "}, "no topic"),
        ({"subscribe": "t", "groupIdPrefix": "x"}, "unknown options: groupIdPrefix"),
        ({"subscribe": "t", "kafka.group.id": "x"}, "kafka.group.id cannot be set: .* no group"),
        ({"subscribe": "t", "kafka.group_id": "x"}, "kafka.group.id cannot be set"),
        ({"subscribe": "t", "kafka.ssl.truststore": "x"}, "did you mean ssl.truststore"),
        ({"subscribe": "t", "kafka.security.protocol": "TLS"}, "kafka.security.protocol='TLS'"),
        ({"subscribe": "t", "startingOffsets": "latest"}, "cannot be latest"),
        ({"subscribe": "t", "startingOffsets": '{"t": {"0": -1}}'}, "cannot be latest"),
        ({"subscribe": "t", "endingOffsets": "earliest"}, "cannot be earliest"),
        ({"subscribe": "t", "endingOffsets": "[1]"}, "endingOffsets is not JSON"),
        ({"subscribe": "t", "startingOffsets": '{"t": {"x": 1}}'}, "startingOffsets is not JSON"),
        ({"assign": '{"t": 1}'}, "assign is not JSON"),
        ({"subscribePattern": "t["}, r"subscribePattern is not a regular expression: t\[: unter"),
        ({"subscribe": "t", "minPartitions": "many"}, "minPartitions is not a number"),
        (
            {"subscribe": "t", "includeHeaders": "perhaps"},
            "includeHeaders: 'perhaps' is none of true",
        ),
        ({"subscribe": "t", "kafka.isolation.level": "none"}, "read_committed"),
    ],
)
def test_what_cannot_be_served_is_refused(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(OptionError, match=complaint):
        parse_options({"kafka.bootstrap.servers": "a:1"} | given)


@pytest.mark.parametrize("servers", ["", "nonsense"])
def test_bootstrap_servers_are_needed(servers: str) -> None:
    with pytest.raises(OptionError, match=r"kafka\.bootstrap\.servers"):
        parse_options({"kafka.bootstrap.servers": servers, "subscribe": "t"})


def parse_stream(**options: str) -> StreamOptions:
    return parse_stream_options(NEEDED | options)


def test_a_stream_begins_at_the_end_unless_it_is_told_otherwise() -> None:
    assert parse_stream().read.starting == Bound(LATEST_TIMESTAMP)
    assert parse_stream(startingOffsets="earliest").read.starting == Bound(EARLIEST_TIMESTAMP)
    named = parse_stream(startingOffsets='{"t": {"0": 5, "1": -1}}').read.starting
    assert (named.at("t", 0), named.at("t", 1)) == (5, LATEST_TIMESTAMP)


@pytest.mark.parametrize(
    ("text", "delay_ms"),
    [("15m", 900_000), ("500ms", 500), ("2 h", 7_200_000), ("30S", 30_000), ("250", 250)],
)
def test_times_are_written_as_spark_writes_them(text: str, delay_ms: int) -> None:
    assert parse_stream(maxTriggerDelay=text).max_delay_ms == delay_ms


@pytest.mark.parametrize(
    "options",
    [
        {"endingOffsets": "latest"},
        {"maxTriggerDelay": "soon"},
        {"minOffsetsPerTrigger": "10", "maxOffsetsPerTrigger": "9"},
    ],
)
def test_what_no_stream_can_do_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(OptionError):
        parse_stream(**options)


def test_what_only_a_stream_can_do_is_refused_of_a_batch() -> None:
    with pytest.raises(OptionError, match="maxOffsetsPerTrigger"):
        parse(maxOffsetsPerTrigger="10")


def test_the_columns_are_known_before_the_kind_of_read() -> None:
    assert (
        columns_of(NEEDED | {"includeheaders": "true", "endingOffsets": "latest"})[-1] == "headers"
    )
    assert columns_of(NEEDED | {"maxOffsetsPerTrigger": "1"}) == USUAL


def test_columns_are_chosen_and_stay_in_the_connectors_order() -> None:
    assert parse(columns="offset, key").columns == ("key", "offset")
    with pytest.raises(OptionError, match="no such column: keys"):
        parse(columns="keys")


def test_every_key_of_kafkas_consumers_may_be_given() -> None:
    assert parse().consumer["allow.auto.create.topics"] == "false"
    assert parse(**{"kafka.allow.auto.create.topics": "true"}).consumer == {
        **parse().consumer,
        "allow.auto.create.topics": "true",
    }
    options = parse(**{"kafka.SSL.truststore.location": "/ca.pem", "kafka.client.rack": "b"})
    assert options.consumer["ssl.truststore.location"] == "/ca.pem"
    assert options.consumer["client.rack"] == "b"


def test_passwords_are_shown_nowhere() -> None:
    options = parse(**{"kafka.ssl.key.password": "hush"})
    assert "hush" not in repr(options)
    with pytest.raises(OptionError) as refused:
        parse(**{"kafka.sasl.jaas.config": "hush", "kafka.security.protocol": "SASL_SSL"})
    assert "hush" not in str(refused.value)
