"""/config/...: what was changed at run time, and the notifications that tell brokers of it.

An entity path names what is configured: ``topics/orders``, ``brokers/1``, ``brokers/<default>``,
``users/alice/clients/c1``, ``ips/127.0.0.9``. Names of users and clients are sanitised first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from logquake.zk.znodes.json_text import dump_json, read_json
from logquake.zk.znodes.map_order import properties_order

CONFIG_PATH = "/config"
TOPICS_CONFIG_PATH = "/config/topics"
USERS_CONFIG_PATH = "/config/users"
CHANGES_PATH = "/config/changes"
CHANGE_PREFIX = "config_change_"
DEFAULT_ENTITY = "<default>"
ENTITY_TYPES = ("topics", "brokers", "users", "clients", "ips")


def topic_entity(topic: str) -> str:
    return f"topics/{topic}"


def user_entity(user: str) -> str:
    return f"users/{sanitize(user)}"


def user_of(name: str) -> str | None:
    """The user whose entity bears this name below users; None for the default and for clients."""
    return None if "/" in name or name == DEFAULT_ENTITY else desanitize(name)


def broker_entity(broker_id: int | None) -> str:
    """The entity of one broker; None is the default of all."""
    return f"brokers/{DEFAULT_ENTITY if broker_id is None else broker_id}"


def sanitize(name: str) -> str:
    """A user's or client's name as part of a path (org.apache.kafka.common.utils.Sanitizer)."""
    return quote(name, safe="-_.").replace("~", "%7E")


def desanitize(name: str) -> str:
    return unquote(name)


@dataclass(frozen=True, slots=True)
class EntityConfig:
    """Overrides of one entity, Kafka's names and values as text."""

    config: Mapping[str, str]

    @staticmethod
    def path(entity_path: str) -> str:
        return f"{CONFIG_PATH}/{entity_path}"

    def encode(self) -> bytes:
        ordered = {name: self.config[name] for name in properties_order(self.config)}
        return dump_json({"version": 1, "config": ordered})

    @classmethod
    def decode(cls, data: bytes) -> EntityConfig:
        """No data is no overrides: Kafka creates such znodes for clients and users."""
        if not data:
            return cls({})

        def build(value: dict[str, Any]) -> EntityConfig:
            return cls({str(name): str(text) for name, text in value.get("config", {}).items()})

        return read_json(data, build)


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A persistent sequential child of CHANGES_PATH; whoever reads them removes old ones."""

    entity_path: str

    @staticmethod
    def path(sequence: int | None = None) -> str:
        """The path to create sequentially at (None), or of one notification."""
        return f"{CHANGES_PATH}/{CHANGE_PREFIX}" + ("" if sequence is None else f"{sequence:010d}")

    def encode(self) -> bytes:
        return dump_json({"version": 2, "entity_path": self.entity_path})

    @classmethod
    def decode(cls, data: bytes) -> ConfigChange:
        def build(value: dict[str, Any]) -> ConfigChange:
            if value["version"] == 1:
                return cls(f"{value['entity_type']}/{value['entity_name']}")
            return cls(str(value["entity_path"]))

        return read_json(data, build)
