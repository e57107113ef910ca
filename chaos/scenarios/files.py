"""Scenarios to text and back; files of one's own, and those that come with logquake."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from pydantic import ValidationError

from logquake.chaos.scenarios.scenario import Scenario
from logquake.cluster.errors import ClusterError

CATALOGUE = Path(__file__).parent / "catalogue"
SUFFIX = ".yaml"
_WIDTH = 100


def read_scenario(text: str, source: str) -> Scenario:
    """``source`` is where the text came from. Raises ClusterError that says where a mistake is."""
    try:
        return Scenario.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ClusterError(f"{source} is no YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        mistakes = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the scenario'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)
        )
        raise ClusterError(f"{source}: {mistakes}") from None


def write_scenario(scenario: Scenario, comment: str = "") -> str:
    """Text that read_scenario gives back; ``comment`` stands above it."""
    document = scenario.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude_none=True
    )
    lines = "".join(f"# {line}\n" for line in comment.splitlines())
    return lines + yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=None,
    )


def find_scenario(name: str) -> Scenario:
    """One of the catalogue by its name or number, else a file. Raises ClusterError."""
    for scenario in catalogue():
        if name in (scenario.name, str(scenario.number)):
            return scenario
    path = Path(name)
    if not path.is_file():
        raise ClusterError(f"{name!r} is no scenario and no file: logquake chaos list names some")
    return read_scenario(path.read_text(), str(path))


@cache
def catalogue() -> tuple[Scenario, ...]:
    """Those that come with logquake, the numbered ones first."""
    found = [read_scenario(path.read_text(), path.name) for path in CATALOGUE.glob(f"*{SUFFIX}")]
    return tuple(sorted(found, key=lambda one: (one.number is None, one.number or 0, one.name)))


class _Dumper(yaml.SafeDumper):
    """Prose as blocks; what holds nothing but scalars on one line."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
