"""Topics made where they are missing, with as many partitions as records of another place have."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.routing import Router
from logquake.client.topics import Admin
from logquake.pipeline.option_values import OptionError


def make_topics(router: Router, partitions: Mapping[str, int]) -> None:
    """With the brokers' default replication factor. Raises ClientError, and OptionError where one
    that is there has fewer partitions.
    """
    admin = Admin(router)
    there = set(admin.list_topics())
    for name in sorted(set(partitions) - there):
        admin.create_topic(name, partitions=partitions[name], replication_factor=-1)
    for topic in admin.describe_topics(sorted(set(partitions) & there)) if there else []:
        if len(topic.partitions) < partitions[topic.name]:
            raise OptionError(
                f"topic {topic.name} has {len(topic.partitions)} partitions, and records of "
                f"{partitions[topic.name]}: they would not stay in order"
            )
