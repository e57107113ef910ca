"""Keys whose defaults follow from other keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from logquake.client.errors import SettingsError
from logquake.client.settings.keys import name_of


def meant(table: Any, given: Mapping[str, Any], field_name: str) -> Any:
    """What is given, else the default."""
    return given.get(field_name, table.__dataclass_fields__[field_name].default)


def make_at_least(
    table: Any, given: dict[str, Any], field_name: str, least: int, what: str
) -> None:
    """A default grows as far as ``what`` demands; less that was given raises SettingsError."""
    value = meant(table, given, field_name)
    if value >= least:
        return
    if field_name in given:
        name = name_of(field_name)
        raise SettingsError(f"{name}={value} is not allowed: {what}, {least}, is the least")
    given[field_name] = least
