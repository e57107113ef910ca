"""listeners, advertised.listeners and the choice of the listener that brokers use.

Every listener is a name, a security protocol, an address to bind, and an advertised address that
clients and brokers are told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import PropertyReader, refusal
from logquake.wire.listeners import PLAINTEXT, SECURITY_PROTOCOL_IDS, ListenerName
from logquake.zk.znodes.brokers import ListenerEndpoint

_FORM = "NAME://HOST:PORT, separated by commas,"
_LISTENERS = "listeners"
_ADVERTISED = "advertised.listeners"
_PROTOCOL_MAP = "listener.security.protocol.map"
_INTER_BROKER = "inter.broker.listener.name"
_INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
_ENTRY = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)://\[?(?P<host>[0-9A-Za-z\-%._:]*)\]?:(?P<port>\d+)")
_LOOPBACK_ADDRESS = re.compile(r"127\.\d+\.\d+\.\d+")
_EVERY_INTERFACE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """``listeners`` are bound; ``advertised`` are told, with host "" for this machine's name."""

    listeners: tuple[ListenerEndpoint, ...]
    advertised: tuple[ListenerEndpoint, ...]
    inter_broker: ListenerName

    def inter_broker_listener(self) -> ListenerEndpoint:
        """The address at which other brokers reach this one."""
        return _named(self.inter_broker, self.advertised)

    def source_host(self) -> str:
        """The IPv4 address to connect to other brokers from; "" when the system may choose.

        A broker on a loopback address of its own is then told apart in both directions.
        """
        host = _named(self.inter_broker, self.listeners).host
        return host if _LOOPBACK_ADDRESS.fullmatch(host) else ""

    def resolved(
        self, ports: Mapping[ListenerName, int], host_name: Callable[[], str]
    ) -> ListenerSettings:
        """Addresses that can be told: with the ports that were bound, by listener name.

        ``host_name`` answers this machine's name; it is asked only where no host was set.
        """
        return replace(
            self,
            listeners=tuple(replace(one, port=ports[one.listener]) for one in self.listeners),
            advertised=tuple(
                replace(one, host=one.host or host_name(), port=one.port or ports[one.listener])
                for one in self.advertised
            ),
        )


def _named(name: ListenerName, endpoints: tuple[ListenerEndpoint, ...]) -> ListenerEndpoint:
    return next(endpoint for endpoint in endpoints if endpoint.listener == name)


def read_listeners(reader: PropertyReader) -> ListenerSettings:
    """Raises SettingsError."""
    protocols = _protocols(reader)
    bound = _endpoints(_LISTENERS, reader.text(_LISTENERS, "PLAINTEXT://:9092"), protocols)
    _check_ports(_LISTENERS, bound)
    told = reader.optional(_ADVERTISED)
    advertised = bound if told is None else _endpoints(_ADVERTISED, told, protocols)
    _check_advertised(advertised, bound)
    return ListenerSettings(bound, advertised, _inter_broker(reader, advertised))


def _protocols(reader: PropertyReader) -> dict[str, str]:
    """Security protocol by listener name."""
    protocols: dict[str, str] = {name: name for name in SECURITY_PROTOCOL_IDS}
    for entry in reader.names(_PROTOCOL_MAP, []):
        name, colon, protocol = entry.partition(":")
        if not name or not colon:
            raise SettingsError(
                refusal(_PROTOCOL_MAP, entry, "NAME:PROTOCOL, separated by commas,")
            )
        if protocol.strip().upper() not in SECURITY_PROTOCOL_IDS:
            allowed = f"one of {', '.join(SECURITY_PROTOCOL_IDS)} after the colon"
            raise SettingsError(refusal(_PROTOCOL_MAP, entry, allowed))
        protocols[name.strip().upper()] = protocol.strip().upper()
    return protocols


def _endpoints(key: str, text: str, protocols: dict[str, str]) -> tuple[ListenerEndpoint, ...]:
    endpoints = tuple(_endpoint(key, entry.strip(), protocols) for entry in text.split(","))
    names = [endpoint.listener for endpoint in endpoints]
    if len(set(names)) != len(names):
        raise SettingsError(refusal(key, text, "each listener name once"))
    return endpoints


def _endpoint(key: str, entry: str, protocols: dict[str, str]) -> ListenerEndpoint:
    match = _ENTRY.fullmatch(entry)
    if match is None or int(match["port"]) > 65535:
        raise SettingsError(refusal(key, entry, _FORM))
    name = match["name"].upper()
    protocol = protocols.get(name)
    if protocol is None:
        raise SettingsError(refusal(key, entry, f"a name in {_PROTOCOL_MAP} ({name}:PLAINTEXT)"))
    return ListenerEndpoint(match["host"], int(match["port"]), ListenerName(name), protocol)


def _check_ports(key: str, endpoints: tuple[ListenerEndpoint, ...]) -> None:
    ports = [endpoint.port for endpoint in endpoints if endpoint.port]
    if len(set(ports)) != len(ports):
        raise SettingsError(refusal(key, ",".join(map(str, endpoints)), "each port once"))


def _check_advertised(
    advertised: tuple[ListenerEndpoint, ...], bound: tuple[ListenerEndpoint, ...]
) -> None:
    names = {endpoint.listener for endpoint in bound}
    for endpoint in advertised:
        if endpoint.listener not in names:
            allowed = f"a listener that {_LISTENERS} binds ({', '.join(sorted(names))})"
            raise SettingsError(refusal(_ADVERTISED, str(endpoint), allowed))
        if endpoint.host in _EVERY_INTERFACE:
            allowed = f"an address that others can reach; set {_ADVERTISED}, which"
            raise SettingsError(refusal(_ADVERTISED, str(endpoint), allowed))


def _inter_broker(reader: PropertyReader, advertised: tuple[ListenerEndpoint, ...]) -> ListenerName:
    by_name = reader.optional(_INTER_BROKER)
    protocol = reader.optional(_INTER_BROKER_PROTOCOL)
    if by_name and protocol:
        raise SettingsError(
            f"{_INTER_BROKER} and {_INTER_BROKER_PROTOCOL} are both set: one of them is allowed"
        )
    key = _INTER_BROKER if by_name else _INTER_BROKER_PROTOCOL
    name = ListenerName((by_name or protocol or PLAINTEXT).upper())
    if name not in {endpoint.listener for endpoint in advertised}:
        raise SettingsError(refusal(key, name, "the name of an advertised listener"))
    return name
