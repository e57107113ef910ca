"""Tables of configuration keys: two lines a key, in Kafka's order of their definition.

    name | type | default | allowed values | note
        What it does.

``null`` is no default, ``""`` an empty one. allowed_values.py says how values are written; what
the note says, the table's owner does.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from logquake.controller.rules.allowed_values import check_of
from logquake.controller.rules.config_def import ConfigKey, ConfigType


def read_table(package: str, name: str) -> Mapping[str, ConfigKey]:
    """By name, of a file in that package, which may be a wheel's. Raises ValueError for a line that
    is none.
    """
    lines = (files(package) / name).read_text(encoding="ascii").splitlines()
    keys = (_key(row, said) for row, said in zip(lines[::2], lines[1::2], strict=True))
    return {key.name: key for key in keys}


def _key(row: str, said: str) -> ConfigKey:
    name, kind, default, allowed, note = (column.strip() for column in row.split("|"))
    return ConfigKey(
        name,
        ConfigType[kind],
        {"null": None, '""': ""}.get(default, default),
        check_of(allowed),
        note,
        said.strip(),
    )
