"""Topics made where they are missing, with as many partitions as records of another place have."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client import Admin
from logquake.client.admin import NewTopic
from logquake.pipeline.options.values import OptionError


def make_topics(admin: Admin, partitions: Mapping[str, int]) -> None:
    """With the brokers' default replication factor. Raises ClientError, and OptionError where one
    that is there has fewer partitions.
    """
    there = admin.list_topics().result().keys() & partitions.keys()
    wanted = [NewTopic(name, partitions[name]) for name in sorted(partitions.keys() - there)]
    for made in admin.create_topics(wanted).values():
        made.result()
    for name, described in admin.describe_topics(sorted(there)).items():
        count = len(described.result().partitions)
        if count < partitions[name]:
            raise OptionError(
                f"topic {name} has {count} partitions, and records of {partitions[name]}: they "
                "would not stay in order"
            )
