"""/brokers/ids/N: the registration of a live broker, ephemeral; its czxid is the broker's epoch.

Written as version 5 (KIP-584). Versions 2 to 4 are read as well: they lack only keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from logquake.wire.listeners import PLAINTEXT, ListenerName
from logquake.zk.znodes.json_text import MalformedZnode, dump_json, int32, read_json, text

IDS_PATH = "/brokers/ids"
SEQUENCE_ID_PATH = "/brokers/seqid"  # its version counts up: generated broker ids
_LARGEST_ID = (1 << 31) - 1
_PORTS = range(1 << 16)


def broker_id_of(name: str) -> int:
    """The id that a child of IDS_PATH stands for. Raises MalformedZnode."""
    if not name.isascii() or not name.isdecimal() or int(name) > _LARGEST_ID:
        raise MalformedZnode(f"no broker id: {name[:20]!r}")
    return int(name)


@dataclass(frozen=True, slots=True)
class ListenerEndpoint:
    """An advertised listener."""

    host: str
    port: int
    listener: ListenerName = PLAINTEXT
    security_protocol: str = PLAINTEXT

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """``features`` maps a feature to its ``{"min_version": n, "max_version": m}``."""

    broker_id: int
    endpoints: tuple[ListenerEndpoint, ...]
    timestamp_ms: int
    rack: str | None = None
    jmx_port: int = -1  # nothing listens
    features: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @staticmethod
    def path(broker_id: int) -> str:
        return f"{IDS_PATH}/{broker_id}"

    def endpoint(self, listener: ListenerName) -> ListenerEndpoint | None:
        return next((one for one in self.endpoints if one.listener == listener), None)

    def encode(self) -> bytes:
        """``host`` and ``port`` are of the first PLAINTEXT endpoint, null and -1 without one."""
        plain = next((e for e in self.endpoints if e.security_protocol == PLAINTEXT), None)
        rack = {} if self.rack is None else {"rack": self.rack}
        return dump_json(
            {
                "features": self.features,
                "listener_security_protocol_map": {
                    e.listener: e.security_protocol for e in self.endpoints
                },
                "endpoints": [str(e) for e in self.endpoints],
                **rack,
                "jmx_port": self.jmx_port,
                "port": plain.port if plain else -1,
                "host": plain.host if plain else None,
                "version": 5,
                "timestamp": str(self.timestamp_ms),
            }
        )

    @classmethod
    def decode(cls, broker_id: int, data: bytes) -> BrokerRegistration:
        def build(value: dict[str, Any]) -> BrokerRegistration:
            protocols = value.get("listener_security_protocol_map", {})
            rack = value.get("rack")
            return cls(
                broker_id=broker_id,
                endpoints=tuple(_parse_endpoint(text(e), protocols) for e in value["endpoints"]),
                timestamp_ms=int(value.get("timestamp", -1)),
                rack=None if rack is None else text(rack),
                jmx_port=int32(value.get("jmx_port", -1)),
                features=value.get("features", {}),
            )

        return read_json(data, build)


def _parse_endpoint(endpoint: str, protocols: Mapping[str, str]) -> ListenerEndpoint:
    listener, _, address = endpoint.partition("://")
    host, _, port = address.rpartition(":")
    if int(port) not in _PORTS:
        raise ValueError(f"no port: {endpoint!r}")
    return ListenerEndpoint(
        host=host.removeprefix("[").removesuffix("]"),
        port=int(port),
        listener=ListenerName(listener),
        security_protocol=text(protocols.get(listener, listener)),
    )
