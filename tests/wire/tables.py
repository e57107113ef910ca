"""Every message class by name, every version of each, and the names that Kafka has for them."""

from __future__ import annotations

import importlib
import pkgutil
import re

import logquake.wire.messages
from logquake.wire.schema import Message


def _message_types() -> dict[str, type[Message]]:
    found = {}
    for module in pkgutil.iter_modules(logquake.wire.messages.__path__):
        contents = vars(importlib.import_module(f"logquake.wire.messages.{module.name}"))
        for name, value in contents.items():
            if isinstance(value, type) and issubclass(value, Message) and value is not Message:
                found[name] = value
    return found


Pair = tuple[str, int]  # a message's name and a version

MESSAGE_TYPES = _message_types()
PAIRS: frozenset[Pair] = frozenset(
    (name, version) for name, cls in MESSAGE_TYPES.items() for version in cls.__schema__.versions
)


# Records of the coordinators' topics, which are no part of Kafka's client.
COORDINATOR_RECORDS = frozenset(
    name
    for name, cls in MESSAGE_TYPES.items()
    if cls.__module__.endswith((".coordinator_records", ".consumer_group_records"))
)


def pairs_of(cls: type[Message]) -> list[Pair]:
    return [(cls.__name__, version) for version in cls.__schema__.versions]


def snake_case(name: str) -> str:
    """The Python name of a field that Kafka writes as ``TopicData`` or ``topicData``."""
    name = name.replace("KRaft", "Kraft").replace("kRaft", "kraft")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
