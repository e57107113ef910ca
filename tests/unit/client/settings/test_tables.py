"""What follows from what: Kafka's rules between keys."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.client.errors import SettingsError
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import read

SERVERS = {"bootstrap_servers": "localhost:9092"}


def producer(**given: Any) -> ProducerConfig:
    return read(ProducerConfig, {**SERVERS, **given})


def consumer(**given: Any) -> ConsumerConfig:
    return read(ConsumerConfig, {**SERVERS, **given})


def admin(**given: Any) -> AdminConfig:
    return read(AdminConfig, {**SERVERS, **given})


CONTRARY = [{"acks": 1}, {"acks": 0}, {"retries": 0}, {"max_in_flight_requests_per_connection": 6}]


@pytest.mark.parametrize("contrary", CONTRARY)
def test_idempotence_gives_way_unless_it_was_asked_for(contrary: dict[str, Any]) -> None:
    assert producer().enable_idempotence
    assert not producer(**contrary).enable_idempotence
    assert not producer(**contrary, enable_idempotence=False).enable_idempotence
    with pytest.raises(SettingsError, match=r"enable\.idempotence=true goes with"):
        producer(**contrary, enable_idempotence=True)


@pytest.mark.parametrize("contrary", [*CONTRARY, {"enable_idempotence": False}])
def test_transactions_need_idempotence(contrary: dict[str, Any]) -> None:
    assert producer(transactional_id="t").transactional_id == "t"
    with pytest.raises(SettingsError, match=r"transactional\.id needs enable\.idempotence=true"):
        producer(**contrary, transactional_id="t")
    with pytest.raises(SettingsError):
        producer(transactional_id="")


def test_delivery_takes_at_least_lingering_and_a_request() -> None:
    assert producer().delivery_timeout_ms == 120_000
    assert producer(linger_ms=100_000).delivery_timeout_ms == 130_000
    assert producer(linger_ms=2**62).delivery_timeout_ms == 2**31 - 1
    assert producer(delivery_timeout_ms=30_000).delivery_timeout_ms == 30_000
    with pytest.raises(SettingsError, match="together, 30001, is the least"):
        producer(delivery_timeout_ms=30_000, linger_ms=1)


def test_reconnecting_with_one_back_off_alone_is_not_exponential() -> None:
    alone = producer(reconnect_backoff_ms=5_000).network()
    assert (alone.reconnect_backoff_ms, alone.reconnect_backoff_max_ms) == (5_000, 5_000)
    both = producer(reconnect_backoff_ms=5, reconnect_backoff_max_ms=7).network()
    assert (both.reconnect_backoff_ms, both.reconnect_backoff_max_ms) == (5, 7)


def test_without_a_group_nothing_is_committed() -> None:
    assert not consumer().enable_auto_commit
    assert consumer(group_id="g").enable_auto_commit
    with pytest.raises(SettingsError, match=r"needs a group\.id"):
        consumer(enable_auto_commit=True)


def test_a_heart_beats_faster_than_its_session_ends() -> None:
    with pytest.raises(SettingsError, match=r"less than session\.timeout\.ms, 3000, is"):
        consumer(group_id="g", session_timeout_ms=3_000)
    assert consumer(session_timeout_ms=3_000).session_timeout_ms == 3_000  # it has no session


@pytest.mark.parametrize("instance", ["", ".", "..", "a b", "a" * 250])
def test_what_is_no_instance_id(instance: str) -> None:
    with pytest.raises(SettingsError):
        consumer(group_id="g", group_instance_id=instance)


def test_an_api_call_takes_at_least_a_request() -> None:
    assert admin(request_timeout_ms=90_000).default_api_timeout_ms == 90_000
    with pytest.raises(SettingsError, match=r"request\.timeout\.ms, 90000, is the least"):
        admin(request_timeout_ms=90_000, default_api_timeout_ms=60_000)


def test_clients_have_names() -> None:
    assert producer(client_id="mine").client_id == "mine"
    assert producer(transactional_id="t").client_id == "producer-t"
    assert consumer(group_id="g", group_instance_id="i").client_id == "consumer-g-i"
    first, second = (int(admin().client_id.removeprefix("adminclient-")) for _ in range(2))
    assert second == first + 1
    assert consumer().client_id.startswith("consumer-null-")


def test_the_network_core_is_told() -> None:
    network = producer(
        client_id="mine", request_timeout_ms=1, max_in_flight_requests_per_connection=2
    ).network()
    assert (network.client_id, network.request_timeout_ms) == ("mine", 1)
    assert network.max_in_flight_requests == 2
    assert producer(connections_max_idle_ms=-1).network().connections_max_idle_ms > 2**62
    assert admin().network().connections_max_idle_ms == 300_000
    assert producer(metadata_max_idle_ms=5_000).metadata().max_idle_ms == 5_000
    assert producer().metadata().rebootstraps
    assert not producer(metadata_recovery_strategy="None").metadata().rebootstraps
    patient = producer(metadata_recovery_rebootstrap_trigger_ms=600_000).metadata()
    assert patient.rebootstrap_trigger_ms == 600_000
