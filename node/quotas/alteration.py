"""What an alteration of client quotas may say, and the znode that it is for: pure.

ZkAdminManager.alterClientQuotas, whose texts these are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

from logquake.node.quotas.entities import DEFAULT
from logquake.node.quotas.quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from logquake.wire.errors import ErrorCode, Refused
from logquake.wire.java_text import double_text
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.zk.znodes.configs import sanitize

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
CONNECTION_CREATION_RATE: Final = "connection_creation_rate"

CLIENT_KEYS: Final = (
    PRODUCER_BYTE_RATE,
    CONSUMER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    CONTROLLER_MUTATION_RATE,
)
IP_KEYS: Final = (CONNECTION_CREATION_RATE,)
QUOTA_KEYS: Final = frozenset({*CLIENT_KEYS, *IP_KEYS})

_SCRAM_KEYS: Final = tuple(mechanism.value for mechanism in ScramMechanism)
_EPSILON: Final = 1e-6
_WHOLE: Final = {
    PRODUCER_BYTE_RATE: "LONG",
    CONSUMER_BYTE_RATE: "LONG",
    CONNECTION_CREATION_RATE: "INT",
}
_LARGEST: Final = {"LONG": 2**63 - 1, "INT": 2**31 - 1}


@dataclass(frozen=True, slots=True)
class Operation:
    """``value`` None removes the key."""

    key: str
    value: float | None


def entity_path(entity: Mapping[str, str | None], is_host: Callable[[str], bool]) -> str:
    """From names by type, None being the default, to the path under /config.

    ``is_host`` says whether there is an address of a name. Raises Refused.
    """
    if not entity:
        raise _invalid("Invalid empty client quota entity")
    for type_, name in entity.items():
        if type_ not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Unhandled client quota entity type: {type_}")
        if name == "":
            raise _invalid(f"Empty {type_} not supported")
    names = {type_: DEFAULT if name is None else sanitize(name) for type_, name in entity.items()}
    match names:
        case {"ip": ip} if len(names) == 1:
            if ip != DEFAULT and not is_host(ip):
                raise _invalid(f"{ip} is not a valid IP or resolvable host.")
            return f"ips/{ip}"
        case {"ip": _}:
            raise _invalid(
                "Invalid quota entity combination, "
                "IP entity should not be used with user/client ID entity."
            )
        case {"user": user, "client-id": client_id}:
            return f"users/{user}/clients/{client_id}"
        case {"user": user}:
            return f"users/{user}"
    return f"clients/{names[CLIENT_ID]}"


def altered(
    path: str, config: Mapping[str, str], operations: Sequence[Operation]
) -> dict[str, str]:
    """The configuration after the operations, one after the other. Raises Refused."""
    after = dict(config)
    for operation in operations:
        if operation.value is None:
            after.pop(operation.key, None)
        else:
            after[operation.key] = _text(path, operation.key, operation.value)
    return after


def check_whole(path: str, config: Mapping[str, str]) -> None:
    """What is written has to make sense, what was there before too (DynamicConfig.validate).

    Raises Refused, whose client is not told why.
    """
    allowed = set(_keys(path))
    if path.startswith("users/") and "/clients/" not in path and path != f"users/{DEFAULT}":
        allowed.update(_SCRAM_KEYS)
    if config.keys() - allowed or config.get(CONNECTION_CREATION_RATE, "0").startswith("-"):
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)


def _keys(path: str) -> Sequence[str]:
    return IP_KEYS if path.startswith("ips/") else CLIENT_KEYS


def _text(path: str, key: str, value: float) -> str:
    """Raises Refused."""
    if path.startswith("users/") and key in _SCRAM_KEYS:
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    if key not in _keys(path):
        raise _invalid(f"Invalid configuration key {key}")
    kind = _WHOLE.get(key)
    if kind is None:
        return double_text(value)
    largest = _LARGEST[kind]
    whole = 0 if isnan(value) else int(min(max(value + _EPSILON, -largest - 1), largest))
    if abs(float(whole) - value) > _EPSILON:
        raise _invalid(f"Configuration {key} must be a {kind} value")
    return str(whole)


def _invalid(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)
