"""Which path an operation is about."""

from __future__ import annotations

from typing import Any

from logquake.zk.operations import (
    Check,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
)


def path_of(operation: Operation[Any]) -> str:
    """The path to name in a failure; of a Multi, its first write's."""
    match operation:
        case Create(path) | Delete(path) | SetData(path) | Check(path):
            return path
        case GetData(path) | Exists(path) | GetChildren(path):
            return path
        case Multi((first, *_)):
            return first.path
        case _:
            return ""
