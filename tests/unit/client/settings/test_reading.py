"""From what a caller gives to a table, and what refusals say."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from logquake.client.consumer.assignors.range import RangeAssignor
from logquake.client.consumer.settings import OffsetReset
from logquake.client.errors import SettingsError
from logquake.client.isolation import Isolation
from logquake.client.settings.addresses import Address
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.elsewhere import CALLED_ELSEWHERE
from logquake.client.settings.keys import name_of
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import Table, read
from logquake.wire.compression import Codec

SERVERS = {"bootstrap.servers": "localhost:9092"}


def refused(**given: object) -> str:
    with pytest.raises(SettingsError) as refusal:
        read(ProducerConfig, {"bootstrap_servers": "localhost:9092", **given})
    return str(refusal.value)


@pytest.mark.parametrize("spelt", ["linger.ms", "linger_ms"])
def test_keys_have_dots_or_underscores(spelt: str) -> None:
    assert read(ProducerConfig, {**SERVERS, spelt: 7}).linger_ms == 7


def test_a_key_is_not_set_twice() -> None:
    with pytest.raises(SettingsError, match=r"linger\.ms is set twice"):
        read(ProducerConfig, {**SERVERS, "linger.ms": 7, "linger_ms": 7})


def test_values_come_as_text_as_well() -> None:
    as_text = {"linger.ms": " 7 ", "compression.type": "zstd", "enable.idempotence": "TRUE"}
    values = {"linger_ms": 7, "compression_type": Codec.ZSTD, "enable_idempotence": True}
    name = {**SERVERS, "client.id": "one"}
    assert read(ProducerConfig, {**name, **as_text}) == read(ProducerConfig, {**name, **values})


def test_servers_are_text_or_a_list() -> None:
    both = (Address("a", 1), Address("::1", 2))
    for given in ("a:1, [::1]:2,", ["a:1", "[::1]:2"], ("a:1", "[::1]:2")):
        assert read(ProducerConfig, {"bootstrap.servers": given}).bootstrap_servers == both


def test_what_stands_before_a_server_is_passed_over() -> None:
    given = "SASL_SSL://a:1,PLAINTEXT://[::1]:2"
    servers = read(ProducerConfig, {"bootstrap.servers": given}).bootstrap_servers
    assert servers == (Address("a", 1), Address("::1", 2))


# Modules, classes and the like that the table of other clients' names tells of.
NO_KEYS = {"logquake.client", "logquake.client.aio", "org.apache.kafka.common.security.scram"}
NO_SERVERS = ["", ",", "a", "a:", ":1", "a:x", "a:65536", "a:0", "a b:1", "a/b:1", "a:\u0661"]


@pytest.mark.parametrize("given", [*NO_SERVERS, [], ["a:1", None]])
def test_servers_that_are_none(given: object) -> None:
    assert "host:port[,host:port...] is" in refused(bootstrap_servers=given)


def test_servers_are_needed() -> None:
    with pytest.raises(SettingsError, match=r"bootstrap\.servers is not set: host:port"):
        read(ProducerConfig, {})


def test_an_unknown_key_is_told_with_the_nearest() -> None:
    assert refused(linger_sm=1) == "linger_sm is no key of a producer: did you mean linger.ms?"
    assert refused(xyzzy=1) == "xyzzy is no key of a producer"


@pytest.mark.parametrize(
    ("spelt", "here"),
    [
        ("message.timeout.ms", "delivery.timeout.ms is it"),
        ("queue_buffering_max_ms", "linger.ms is it"),
        ("ssl.ca.location", "ssl.truststore.location is it, with ssl.truststore.type=PEM"),
        ("consumer_timeout_ms", "a loop never ends by itself; poll(timeout_ms) does"),
    ],
)
def test_what_another_client_calls_differently_is_told_as_it_is_called_here(
    spelt: str, here: str
) -> None:
    assert refused(**{spelt: 1}) == f"{spelt} is no key of a producer: {here}"


@pytest.mark.parametrize("spelt", ["sasl.username", "sasl_plain_password"])
def test_where_user_and_password_belong_is_told_whole(spelt: str) -> None:
    said = refused(**{spelt: "hush"})
    assert 'ScramLoginModule required username="..." password="...";' in said
    assert "hush" not in said


def test_what_is_called_differently_elsewhere_is_no_key_here_and_what_is_told_is_one() -> None:
    tables: tuple[type[Table], ...] = (ProducerConfig, ConsumerConfig, AdminConfig)
    keys = {name_of(each.name) for table in tables for each in fields(table)}
    absent = {name for table in tables for name in table.absent}
    assert not CALLED_ELSEWHERE.keys() & (keys | absent)
    told = {
        word.rstrip(".,:;")
        for said in CALLED_ELSEWHERE.values()
        for word in re.findall(r"[a-z0-9]+(?:\.[a-z0-9]+)+", said)
    }
    assert told - keys <= NO_KEYS


@pytest.mark.parametrize("value", ["", "1_000", "1e3", "x", 1.0, True, None, -1, 2**63, "9" * 5000])
def test_what_is_no_number_of_the_key(value: object) -> None:
    assert f"a whole number from 0 to {2**63 - 1} is" in refused(linger_ms=value)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_what_is_neither_true_nor_false(value: object) -> None:
    assert refused(enable_idempotence=value).endswith("true or false is")


@pytest.mark.parametrize("value", ["2", 2, True, None, "ALL", 1.0])
def test_what_is_no_acks(value: object) -> None:
    assert refused(acks=value).endswith("all or -1 or 0 or 1 is")


@pytest.mark.parametrize(("value", "acks"), [("all", -1), (-1, -1), ("1", 1), (1, 1), (0, 0)])
def test_acks_are_text_or_a_number(value: object, acks: int) -> None:
    assert read(ProducerConfig, {**SERVERS, "acks": value}).acks == acks


def test_a_choice_is_spelt_as_kafka_spells_it_or_is_the_choice() -> None:
    spelt = {"auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    table = read(ConsumerConfig, {**SERVERS, **spelt})
    assert table.auto_offset_reset is OffsetReset.EARLIEST
    assert table.isolation_level is Isolation.READ_COMMITTED
    again = read(ConsumerConfig, {**SERVERS, "auto_offset_reset": OffsetReset.NONE})
    assert again.auto_offset_reset is OffsetReset.NONE
    with pytest.raises(SettingsError, match="earliest or latest or none is"):
        read(ConsumerConfig, {**SERVERS, "auto.offset.reset": "Earliest"})


def test_what_a_program_brings_along_is_an_object() -> None:
    assert (
        read(ProducerConfig, {**SERVERS, "key_serializer": str.encode}).key_serializer == str.encode
    )
    wanted = "a function, or an object, and no class, with serialize() is"
    assert wanted in refused(key_serializer="StringSerializer")


def test_assignors_are_named_or_brought_along() -> None:
    mine = RangeAssignor()
    for given in (["sticky", mine], ("sticky", mine)):
        table = read(ConsumerConfig, {**SERVERS, "partition.assignment.strategy": given})
        assert table.partition_assignment_strategy == ("sticky", mine)
    named = read(ConsumerConfig, {**SERVERS, "partition.assignment.strategy": "sticky , range"})
    assert named.partition_assignment_strategy == ("sticky", "range")
    for wrong in ("stick", [None], 1, [], [object()], [RangeAssignor]):
        with pytest.raises(SettingsError, match="roundrobin or sticky"):
            read(ConsumerConfig, {**SERVERS, "partition_assignment_strategy": wrong})


def test_what_has_no_meaning_here_is_told() -> None:
    told = refused(metric_reporters="com.example.Reporter")
    assert told.startswith("metric.reporters cannot be set for a producer: ")
    with pytest.raises(SettingsError, match=r"group\.protocol cannot be set for a consumer: "):
        read(ConsumerConfig, {**SERVERS, "group.protocol": "consumer"})


def test_what_happens_anyway_may_be_written() -> None:
    read(ProducerConfig, {**SERVERS, "enable.metrics.push": False, "send.buffer.bytes": "-1"})
    read(ConsumerConfig, {**SERVERS, "group.protocol": "CLASSIC"})
