"""Parts are set to what the tables say, also in scripts and simulations, which set nothing."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from logquake.client.admin.asking.enquiries import EnquirySettings
from logquake.client.producer.configured import batching, sending
from logquake.client.settings.admin import AdminConfig
from logquake.client.settings.consumer import ConsumerConfig
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import read

SERVERS = {"bootstrap.servers": "localhost:9092"}
PRODUCER = read(ProducerConfig, SERVERS)
CONSUMER = read(ConsumerConfig, {**SERVERS, "group.id": "g"})
ADMIN = read(AdminConfig, SERVERS)


@pytest.mark.parametrize(
    ("part", "of_this_client"),
    [
        (PRODUCER.network(), {"client_id"}),
        (PRODUCER.metadata(), {"creates_topics"}),
        (batching(PRODUCER), set()),
        (sending(PRODUCER), set()),
        (CONSUMER.network(), {"client_id", "max_in_flight_requests"}),
        (CONSUMER.metadata(), {"creates_topics"}),
        (CONSUMER.fetching(), set()),
        (CONSUMER.asking(), set()),
        (CONSUMER.membership(), {"rack"}),  # "", which is none too
        (ADMIN.network(), {"client_id", "max_in_flight_requests", "connections_max_idle_ms"}),
        (ADMIN.metadata(), set()),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_parts_defaults_are_its_tables(part: Any, of_this_client: set[str]) -> None:
    others = {
        each.name
        for each in fields(part)
        if each.default is not MISSING and getattr(part, each.name) != each.default
    }
    assert others == of_this_client


def test_an_enquirys_defaults_are_its_tables() -> None:
    of_table = {each.name: getattr(ADMIN, each.name) for each in fields(EnquirySettings)}
    assert EnquirySettings(**of_table) == EnquirySettings()
