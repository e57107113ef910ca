"""Arguments of jobs that read topics, and what the source is told of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping

from logquake.pipeline.jobs.client_config import as_options
from logquake.pipeline.source.options import SELECTORS
from logquake.wire.topic_partition import TopicPartition

ALLOW_DATA_LOSS = "--allow-data-loss"


def add_topic_arguments(parser: argparse.ArgumentParser) -> None:
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topics", metavar="NAME,...")
    topics.add_argument(
        "--pattern", metavar="REGEX", help="topics that match it whole, later ones too"
    )
    parser.add_argument(
        "--isolation",
        choices=["read_committed", "read_uncommitted"],
        default="read_committed",
        help="whether records of transactions that are not committed are read (%(default)s)",
    )
    parser.add_argument(
        ALLOW_DATA_LOSS,
        action="store_true",
        help="go on where records are gone before they were read",
    )


def reading_options(arguments: argparse.Namespace) -> dict[str, str]:
    topics = (
        {"subscribe": arguments.topics}
        if arguments.topics
        else {"subscribePattern": arguments.pattern}
    )
    return {
        **as_options(arguments.config),
        "kafka.bootstrap.servers": arguments.bootstrap_servers,
        "kafka.isolation.level": arguments.isolation,
        "failOnDataLoss": str(not arguments.allow_data_loss).lower(),
        **topics,
    }


def of_partitions(source: Mapping[str, str], places: Iterable[TopicPartition]) -> dict[str, str]:
    """What the source is told, to read these alone of the topics that were chosen."""
    partitions: dict[str, list[int]] = {}
    for place in places:
        partitions.setdefault(place.topic, []).append(place.partition)
    others = {name: value for name, value in source.items() if name not in SELECTORS}
    return others | {"assign": json.dumps(partitions)}
