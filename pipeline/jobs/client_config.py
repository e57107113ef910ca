"""A job's file of Kafka's keys: how its clients get in, and what else they are set to."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from logquake.node.settings import SettingsError, read_properties
from logquake.pipeline.options.clients import PREFIX


def add_config_argument(parser: argparse.ArgumentParser, option: str, name: str) -> None:
    """Its keys are a mapping, empty without a file."""
    parser.add_argument(
        option,
        dest=name,
        type=_read,
        default={},
        metavar="FILE",
        help="properties of Kafka's clients: security.protocol, ssl.*, sasl.*",
    )


def as_options(keys: Mapping[str, str]) -> dict[str, str]:
    """As the source and the sink take them."""
    return {f"{PREFIX}{key}": value for key, value in keys.items()}


def _read(path: str) -> dict[str, str]:
    try:
        return read_properties(Path(path))
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
