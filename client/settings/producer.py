"""The configuration of a producer (ProducerConfig)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar

from logquake.client.errors import SettingsError
from logquake.client.network.metadata import MetadataSettings
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings.common import CommonConfig
from logquake.client.settings.following import make_at_least, meant
from logquake.client.settings.keys import key
from logquake.client.settings.kinds import (
    INT_MAX,
    Doing,
    Flag,
    Maybe,
    OneOf,
    Several,
    identifier,
    integer,
    long,
)
from logquake.wire.compression import Codec
from logquake.wire.sentinels import ACKS_ALL

_ACKS = {"all": ACKS_ALL, "-1": ACKS_ALL, "0": 0, "1": 1}
_CODECS = {codec.name.lower(): codec for codec in Codec}
_ZLIBS_OWN_LEVEL = -1
_GZIP_LEVELS = {str(level): level for level in (_ZLIBS_OWN_LEVEL, *range(1, 10))}
_IDEMPOTENT_IN_FLIGHT_MAX = 5  # as many batches as a broker remembers of a producer
_SERIALIZER = Doing(("serialize",), or_function=True)
_INTERCEPTOR = Doing(("on_send", "on_acknowledgement"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig(CommonConfig):
    client: ClassVar[str] = "a producer"
    numbers: ClassVar[count[int]] = count(1)

    # What a record is made of; without one, keys and values are bytes.
    key_serializer: Any = key(None, _SERIALIZER)
    value_serializer: Any = key(None, _SERIALIZER)
    # Called in order with each record before it is serialized, and with what became of it.
    interceptor_classes: tuple[Any, ...] = key((), Several(_INTERCEPTOR))
    # Who has a batch before it is acknowledged: all in-sync replicas, 1 for the leader, 0 for
    # nobody, so that what is lost is never told.
    acks: int = key(ACKS_ALL, OneOf(_ACKS))
    # Brokers drop what they were sent twice. Off unless acks is all, there are retries, and no
    # more than 5 requests are in flight.
    enable_idempotence: bool = key(True, Flag())
    transactional_id: str | None = key(None, Maybe(identifier(r"(?s:.+)")))
    # A coordinator aborts what is open for longer; brokers bound it by transaction.max.timeout.ms.
    transaction_timeout_ms: int = key(60_000, integer())
    # From send() on, with all retries: at least linger.ms and request.timeout.ms together.
    delivery_timeout_ms: int = key(120_000, integer(0))
    retries: int = key(INT_MAX, integer(0))
    # Without idempotence more than one may reorder what is sent again.
    max_in_flight_requests_per_connection: int = key(5, integer(1))
    # How long send() waits for metadata and for memory.
    max_block_ms: int = key(60_000, long(0))
    # Of all batches together, those on their way included.
    buffer_memory: int = key(32 * 1024 * 1024, long(0))
    # Of one batch; 0 sends each record by itself. It takes memory for each partition written to.
    batch_size: int = key(16_384, integer(0))
    # How long a batch that is not full waits for more.
    linger_ms: int = key(0, long(0))
    # Of a record, and of a request; brokers refuse more than message.max.bytes.
    max_request_size: int = key(1_048_576, integer(0))
    compression_type: Codec = key(Codec.NONE, OneOf(_CODECS))
    compression_gzip_level: int = key(_ZLIBS_OWN_LEVEL, OneOf(_GZIP_LEVELS))
    compression_lz4_level: int = key(9, integer(1, 17))
    compression_zstd_level: int = key(3, integer(-131_072, 22))
    # Without one of the program's own: by the hash of the key, else sticky (KIP-794).
    partitioner_class: Any = key(None, Maybe(Doing(("partition",))))
    # Brokers that are behind are given fewer records.
    partitioner_adaptive_partitioning_enable: bool = key(True, Flag())
    # One that takes nothing for longer is given none that could go elsewhere; 0 is never.
    partitioner_availability_timeout_ms: int = key(0, long(0))
    partitioner_ignore_keys: bool = key(False, Flag())
    # For how long a topic is asked about after its last use.
    metadata_max_idle_ms: int = key(300_000, long(5_000))

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        CommonConfig.settle(given)
        _settle_idempotence(given)
        _settle_delivery_timeout(given)
        if "client_id" not in given:
            name = given.get("transactional_id") or next(cls.numbers)
            given["client_id"] = f"producer-{name}"

    def network(self) -> NetworkSettings:
        in_flight = self.max_in_flight_requests_per_connection
        return replace(CommonConfig.network(self), max_in_flight_requests=in_flight)

    def metadata(self) -> MetadataSettings:
        common = CommonConfig.metadata(self)
        return replace(common, max_idle_ms=self.metadata_max_idle_ms, creates_topics=True)


def _settle_idempotence(given: dict[str, Any]) -> None:
    """What was asked for has to be possible; what is a default gives way, as it does until 4.0."""
    contrary = _contrary_to_idempotence(given)
    if contrary is not None:
        if given.get("enable_idempotence"):
            raise SettingsError(f"enable.idempotence=true goes with {contrary} alone")
        given["enable_idempotence"] = False
    if "transactional_id" in given and not given.get("enable_idempotence", True):
        why = f": it goes with {contrary} alone" if contrary else ""
        raise SettingsError(f"transactional.id needs enable.idempotence=true{why}")


def _contrary_to_idempotence(given: dict[str, Any]) -> str | None:
    """What it demands that is not so."""
    if given.get("retries") == 0:
        return "retries above 0"
    if given.get("acks", ACKS_ALL) != ACKS_ALL:
        return "acks=all"
    if given.get("max_in_flight_requests_per_connection", 0) > _IDEMPOTENT_IN_FLIGHT_MAX:
        return f"max.in.flight.requests.per.connection up to {_IDEMPOTENT_IN_FLIGHT_MAX}"
    return None


def _settle_delivery_timeout(given: dict[str, Any]) -> None:
    """KafkaProducer.configureDeliveryTimeout."""
    linger_ms = min(meant(ProducerConfig, given, "linger_ms"), INT_MAX)
    least_ms = min(linger_ms + meant(ProducerConfig, given, "request_timeout_ms"), INT_MAX)
    what = "linger.ms and request.timeout.ms together"
    make_at_least(ProducerConfig, given, "delivery_timeout_ms", least_ms, what)
