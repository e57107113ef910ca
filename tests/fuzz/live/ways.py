"""How strangers get into a cluster: known or not, by its listener as it is or in plain bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from logquake.client.connection import Connection, connect_to_one
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.cluster.api import Cluster
from logquake.cluster.security.cluster_security import User
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.fuzz.live.contents import TOPICS, World
from tests.fuzz.live.over_quota import from_afar
from tests.fuzz.live.raw_ways import Connect, logged_in, tcp, tls

TIMEOUT_S = 30.0
_STRANGER = User("stranger", "hush")


class Welcome(Enum):
    """Whether whoever comes so is answered, if only with a refusal."""

    ALWAYS = "always"
    ONCE_ANSWERED = "always, once the first request was; before, it may be sent away"
    NEVER_SURE = "it may be sent away at any request"


@dataclass(frozen=True, slots=True)
class Way:
    name: str
    connect: Connect
    welcome: Welcome = Welcome.ALWAYS


def ways(kafka: Cluster, *, over_quota: bool) -> Iterator[Way]:
    security = kafka.security
    if over_quota:
        yield Way("from where connections come too fast", from_afar, Welcome.ONCE_ANSWERED)
        return
    if security is None:
        yield Way("plain", tcp)
        return
    yield Way("as who may do everything", partial(logged_in, security))
    _add_stranger(kafka)
    stranger = replace(security, user=_STRANGER)
    yield Way("as who may do nothing", partial(logged_in, stranger))
    yield Way("before the login", partial(tls, security), Welcome.NEVER_SURE)
    yield Way("without TLS", tcp, Welcome.NEVER_SURE)


def _add_stranger(kafka: Cluster) -> None:
    credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    asked = UserScramCredentialUpsertion(
        _STRANGER.name, credential, _STRANGER.password.encode(), b"salt"
    )
    admin = AdminClient(dict(kafka.client_config()))
    admin.alter_user_scram_credentials([asked])[_STRANGER.name].result(TIMEOUT_S)


class Asker:
    """What a campaign itself has to know of a broker."""

    def __init__(self, kafka: Cluster, address: Address) -> None:
        self._way_in = kafka.way_in
        self._address = address

    def served(self) -> list[tuple[int, int]]:
        """Every key and version that it advertises."""
        with closing(self.connection()) as there:
            told = there.request(ApiVersionsRequest(), ApiVersionsResponse, at_most=0)
        return [
            (api.api_key, version)
            for api in told.api_keys
            for version in range(api.min_version, api.max_version + 1)
        ]

    def learn_topic_ids(self, world: World) -> None:
        """They change: victims are deleted, and made again."""
        topics = [MetadataRequestTopic(name=name) for name in TOPICS]
        with closing(self.connection()) as there:
            told = there.request(MetadataRequest(topics=topics), MetadataResponse, at_most=12)
        world.topic_ids = [topic.topic_id for topic in told.topics if not topic.error_code]

    def connection(self) -> Connection:
        return connect_to_one(self._address, NetworkSettings(), self._way_in)
