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


def is_node_name(name: str) -> bool:
    """Whether a znode may have that name (org.apache.zookeeper.common.PathUtils.validatePath)."""
    return name not in ("", ".", "..") and "/" not in name and not any(map(_is_refused, name))


def _is_refused(character: str) -> bool:
    code = ord(character)
    return (
        code <= 0x1F or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xF8FF or 0xFFF0 <= code <= 0xFFFF
    )
