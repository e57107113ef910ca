"""A client is given its keys as a mapping, as keywords, and as arguments that stand for them."""

from __future__ import annotations

import pytest

from logquake.client import Admin, Consumer, Producer, ProducerInterceptor, aio
from logquake.client.errors import SettingsError
from logquake.client.producer.facade import ProducerFacade
from logquake.client.settings.reading import merged

SERVERS = "localhost:9092"


class Partitioner(ProducerInterceptor):
    """And an interceptor."""

    def partition(self, *_: object) -> int:
        return 0


@pytest.mark.parametrize(
    ("client", "key"),
    [
        (Producer, "acks"),
        (aio.Producer, "linger_ms"),
        (Consumer, "fetch_min_bytes"),
        (aio.Consumer, "isolation_level"),
        (Admin, "retries"),
        (aio.Admin, "retries"),
    ],
)
def test_a_keyword_that_is_none_is_a_value_that_its_key_has_to_allow(
    client: type, key: str
) -> None:
    for config, keys in (({key: None}, {}), ({}, {key: None})):
        with pytest.raises(SettingsError, match=f"{key.replace('_', '.')}=None is not allowed"):
            client(config, bootstrap_servers=SERVERS, **keys)


def test_an_argument_that_is_none_is_not_given() -> None:
    assert merged({"acks": 1}, {"linger_ms": None}, {"partitioner_class": None}) == {
        "acks": 1,
        "linger_ms": None,
    }
    for arguments in ({"acks": 0}, {"linger_ms": 5}):
        with pytest.raises(SettingsError, match="is set twice"):
            merged({"acks": 1}, {"linger_ms": 1}, arguments)


def test_the_key_that_an_argument_stands_for_is_heeded() -> None:
    """It was left out, for the argument that was not given."""
    partitioner = Partitioner()

    class Unstarted(ProducerFacade):
        def _start(self) -> None:
            settings = self._producing.settings
            assert settings.partitioner_class is partitioner
            assert settings.interceptor_classes == (partitioner,)

    Unstarted(
        bootstrap_servers=SERVERS, partitioner_class=partitioner, interceptor_classes=[partitioner]
    )
