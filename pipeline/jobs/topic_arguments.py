"""Arguments of jobs that read topics, and what the source is told of them."""

from __future__ import annotations

import argparse

from logquake.pipeline.jobs.client_config import as_options


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
        **topics,
    }
