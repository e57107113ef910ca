"""A broker's configuration under Kafka's own keys: server.properties in, frozen values out.

properties.py     the file format
reader.py         types and ranges, and the one wording of every refusal
broker.py         BrokerSettings, which the others fill
listeners.py, network.py, replication.py, cleaner.py, topic_defaults.py    groups of keys
dynamic.py           what of all that may change while the broker runs
"""

from logquake.node.settings.broker import BrokerSettings, ZooKeeperSettings
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.properties import parse_properties, read_properties

__all__ = [
    "BrokerSettings",
    "SettingsError",
    "ZooKeeperSettings",
    "parse_properties",
    "read_properties",
]
