"""Topics that a mirror writes to: with the partitions and the settings of those that it reads.

As MirrorSourceConnector makes them: a topic's own settings are copied when it is made, but for
those that are about its brokers, and its partitions grow with the source's. What is set later stays
as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from logquake.client import Admin
from logquake.client.admin import (
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    NewPartitions,
    NewTopic,
)

# DefaultConfigPropertyFilter, and whatever else refuses records the times that they have.
_NOT_COPIED = {
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "message.timestamp.difference.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.after.max.ms",
    "message.timestamp.type",
    "min.insync.replicas",
    "unclean.leader.election.enable",
}


def mirror_topics(source: Admin, target: Admin, partitions: Mapping[str, int], prefix: str) -> None:
    """``partitions`` are the source's by topic; names get the prefix there. Raises ClientError."""
    there = target.list_topics().result().keys()
    missing = [name for name in sorted(partitions) if f"{prefix}{name}" not in there]
    configs = _own_settings(source, missing)
    new = [NewTopic(f"{prefix}{at}", partitions[at], configs=configs[at]) for at in missing]
    for made in target.create_topics(new).values():
        made.result()
    wanted = {f"{prefix}{at}": count for at, count in partitions.items() if at not in configs}
    for grown in target.create_partitions(dict(_grown(target, wanted))).values():
        grown.result()


def _own_settings(source: Admin, topics: Collection[str]) -> dict[str, dict[str, str | None]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]
    told = source.describe_configs(resources)
    return {
        resource.name: {
            entry.name: entry.value for entry in config.result().values() if _is_copied(entry)
        }
        for resource, config in told.items()
    }


def _is_copied(entry: ConfigEntry) -> bool:
    return entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG and entry.name not in _NOT_COPIED


def _grown(target: Admin, wanted: Mapping[str, int]) -> Iterator[tuple[str, NewPartitions]]:
    for name, described in target.describe_topics(sorted(wanted)).items():
        if len(described.result().partitions) < wanted[name]:
            yield name, NewPartitions(wanted[name])
