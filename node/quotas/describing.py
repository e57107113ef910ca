"""Which quotas a filter asks for: pure. ZkAdminManager.describeClientQuotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from logquake.node.quotas.alteration import (
    CLIENT_ID,
    CLIENT_KEYS,
    IP,
    IP_KEYS,
    USER,
)
from logquake.node.quotas.entities import DEFAULT
from logquake.wire.errors import ErrorCode, Refused
from logquake.zk.znodes.configs import desanitize
from logquake.zk.znodes.map_order import properties_order

Entity = Mapping[str, str | None]
"""Names by type; None is the default."""

_TYPES: Final[Mapping[str, str]] = {USER: "user", CLIENT_ID: "client", IP: "ip"}


class MatchType(IntEnum):
    """As on the wire."""

    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


@dataclass(frozen=True, slots=True)
class Component:
    """An entity of this type, of that name (``match``), the default, or any."""

    type: str
    match_type: MatchType
    match: str | None

    def takes(self, name: str | None) -> bool:
        match self.match_type:
            case MatchType.EXACT:
                return name == self.match
            case MatchType.DEFAULT:
                return name is None
            case MatchType.SPECIFIED:
                return True


def described(
    stored: Iterable[tuple[str, Mapping[str, str]]],
    components: Iterable[Component],
    *,
    strict: bool,
) -> Iterator[tuple[Entity, dict[str, float]]]:
    """Of what is stored by path under /config, what matches, with its quotas.

    ``strict`` leaves out entities of types that no component names. Raises Refused.
    """
    wanted = _by_type(components)
    if _names_nobody(wanted, strict=strict):
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    for path, config in stored:
        entity = entity_of(path)
        quotas = dict(_quotas(entity, config))
        if quotas and _matches(wanted, entity, strict=strict):
            yield entity, quotas


def entity_of(path: str) -> Entity:
    match path.split("/"):
        case ["users", user, "clients", client_id]:
            return {USER: _name(user), CLIENT_ID: _name(client_id)}
        case ["users", user]:
            return {USER: _name(user)}
        case ["clients", client_id]:
            return {CLIENT_ID: _name(client_id)}
        case ["ips", ip]:
            return {IP: _name(ip)}
    return {}


def _name(sanitized: str) -> str | None:
    return None if sanitized == DEFAULT else desanitize(sanitized)


def _by_type(components: Iterable[Component]) -> dict[str, Component]:
    wanted: dict[str, Component] = {}
    for component in components:
        if component.type in wanted:
            raise _invalid(f"Duplicate {_TYPES[component.type]} filter component entity type")
        if component.type == "":
            raise _invalid("Unexpected empty filter component entity type")
        if component.type not in _TYPES:
            said = f"Custom entity type '{component.type}' not supported"
            raise Refused(ErrorCode.UNSUPPORTED_VERSION, said)
        wanted[component.type] = component
    if IP in wanted and len(wanted) > 1:
        raise _invalid(
            "Invalid entity filter component combination, IP filter component should not be used "
            "with user or clientId filter component."
        )
    return wanted


def _names_nobody(wanted: Mapping[str, Component], *, strict: bool) -> bool:
    """Whether it names an entity whole, whose znode Kafka reads, and leaves out a name in that."""
    exact = {type_ for type_, each in wanted.items() if each.match_type is MatchType.EXACT}
    is_whole = IP in exact or exact == {USER, CLIENT_ID} or (strict and exact == wanted.keys())
    return is_whole and any(wanted[type_].match == "" for type_ in exact)


def _matches(wanted: Mapping[str, Component], entity: Entity, *, strict: bool) -> bool:
    """A filter of users or clients means no addresses, and the other way round."""
    if wanted and (IP in wanted) != (IP in entity):
        return False
    if strict and entity.keys() - wanted.keys():
        return False
    return all(type_ in entity and one.takes(entity[type_]) for type_, one in wanted.items())


def _quotas(entity: Entity, config: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """In Kafka's order, of which its tool shows some."""
    known = IP_KEYS if IP in entity else CLIENT_KEYS
    for key in properties_order(key for key in known if key in config):
        try:
            yield key, float(config[key])
        except ValueError:
            continue


def _invalid(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)
