"""Changes as they are asked for, and what comes of them (ConfigAdminManager).

A request names resources; each is answered by itself. What is wrong with the request's shape is
found before anything is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from logquake.controller.rules.config_def import ConfigKey, ConfigType, InvalidConfig
from logquake.node.configs.layers import Properties
from logquake.wire.errors import ErrorCode, Refused


class ConfigResourceType(IntEnum):
    """ConfigResource.Type, as far as Kafka 3.9 alters and describes them."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16


class Operation(IntEnum):
    """AlterConfigOp.OpType."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One key. ``operation`` is as it came: a number that may mean nothing."""

    name: str
    operation: int
    value: str | None


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """``replaces``: what is not named is unset (AlterConfigs), else it stays as it is."""

    type: int
    name: str
    alterations: Sequence[Alteration]
    replaces: bool = False


def repeated(changes: Iterable[ResourceChange]) -> set[tuple[int, str]]:
    """Resources that a request names more than once."""
    counts = Counter((change.type, change.name) for change in changes)
    return {resource for resource, count in counts.items() if count > 1}


def check_shape(change: ResourceChange) -> None:
    """Raises Refused."""
    names = [each.name for each in change.alterations]
    if len(set(names)) < len(names):
        raise Refused(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [
        each.name
        for each in change.alterations
        if each.value is None and each.operation != Operation.DELETE
    ]
    if nulls:
        said = f"Null value not supported for : {', '.join(nulls)}"
        raise Refused(ErrorCode.INVALID_REQUEST, said)
    served = {
        ConfigResourceType.TOPIC,
        ConfigResourceType.BROKER,
        ConfigResourceType.CLIENT_METRICS,
    }
    if not change.replaces:
        served.add(ConfigResourceType.BROKER_LOGGER)
    if change.type not in served:
        raise Refused(ErrorCode.INVALID_REQUEST, f"Unknown resource type {change.type}")


def altered(
    before: Properties, change: ResourceChange, keys: Mapping[str, ConfigKey]
) -> dict[str, str]:
    """What the resource would be set to. Raises Refused, InvalidConfig.

    Kafka answers UNKNOWN_SERVER_ERROR to an operation that means nothing, and to one that works
    on lists of a key that it does not know.
    """
    after = {} if change.replaces else dict(before)
    for each in change.alterations:
        match each.operation:
            case Operation.SET:
                after[each.name] = each.value or ""
            case Operation.DELETE:
                after.pop(each.name, None)
            case Operation.APPEND:
                old = _elements(after, each.name, keys, "append")
                new = [one for one in _split(each.value) if one not in old]
                after[each.name] = ",".join([*old, *new])
            case Operation.SUBTRACT:
                old = _elements(after, each.name, keys, "subtract")
                after[each.name] = ",".join(_difference(old, _split(each.value)))
            case _:
                raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return after


def _elements(
    after: Properties, name: str, keys: Mapping[str, ConfigKey], operation: str
) -> list[str]:
    key = keys.get(name)
    if key is None:
        raise Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    if key.type is not ConfigType.LIST:
        raise InvalidConfig(f"Config value {operation} is not allowed for config key: {name}")
    text = after.get(name, key.default or "")
    return _split(text) if text else []


def _split(text: str | None) -> list[str]:
    """String.split: empty elements at the end do not count."""
    parts = (text or "").split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _difference(elements: Iterable[str], less: Iterable[str]) -> list[str]:
    """Of multisets, as Scala's diff: one element goes for each that is named."""
    left = Counter(less)
    kept = []
    for each in elements:
        if left[each] > 0:
            left[each] -= 1
        else:
            kept.append(each)
    return kept
