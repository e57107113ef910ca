"""Arguments of jobs that write to a cluster, and what the sink is told of them."""

from __future__ import annotations

import argparse

from logquake.pipeline.jobs.client_config import as_options
from logquake.pipeline.options.clients import Keys, admin_keys, producer_keys

COPIED = ("key", "value", "headers", "timestamp", "topic", "partition")
"""Columns of a row that is written as it was read."""


def add_writing_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--topic-prefix", default="", metavar="TEXT", help="of the names of the topics written to"
    )
    parser.add_argument(
        "--rate", type=positive_number, metavar="N", help="so many rows a second at most"
    )
    parser.add_argument(
        "--at-least-once", action="store_true", help="no transactions: what is run again is doubled"
    )


def target_keys(arguments: argparse.Namespace) -> Keys:
    """Of an admin client there. Raises OptionError."""
    return admin_keys(_target_config(arguments))


def transaction_timeout_ms(arguments: argparse.Namespace) -> int:
    """How long a task may take that writes there. Raises OptionError."""
    return int(producer_keys(_target_config(arguments))["transaction.timeout.ms"])


def writing_options(arguments: argparse.Namespace, prefix: str | None = None) -> dict[str, str]:
    """``prefix`` is what the write is known by when it is run again, None what the sink takes."""
    target = as_options(arguments.target_config)
    target["kafka.bootstrap.servers"] = arguments.target_servers
    if arguments.at_least_once:
        return target
    known_by = {"transactionalIdPrefix": prefix} if prefix else {}
    return target | {"deliveryGuarantee": "exactly-once"} | known_by


def _target_config(arguments: argparse.Namespace) -> Keys:
    config: dict[str, str] = arguments.target_config
    return config | {"bootstrap.servers": arguments.target_servers}


def positive_number(text: str) -> int:
    """Raises ValueError."""
    number = int(text)
    if number <= 0:
        raise ValueError(text)
    return number
