"""The small text files of a log directory, which Kafka's tool does not read.

A checkpoint's entries come a line each, `field: value` as everywhere in a dump; the two files of
properties come as they are, without comments.
"""

from __future__ import annotations

from collections.abc import Iterator

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage.dirs.meta_properties import FILE_NAME as META_PROPERTIES
from logquake.storage.dump.damages import Damages
from logquake.storage.partition_metadata import FILE_NAME as PARTITION_METADATA

# What the number of an entry is, by the name of the file.
_MEANINGS = {
    checkpoints.RECOVERY_POINTS: "recoveryPoint",
    checkpoints.HIGH_WATERMARKS: "highWatermark",
    checkpoints.LOG_START_OFFSETS: "logStartOffset",
    checkpoints.CLEANER_OFFSETS: "firstDirtyOffset",
}
_PROPERTIES = {META_PROPERTIES: "=", PARTITION_METADATA: ":"}
NAMES = (*_MEANINGS, checkpoints.LEADER_EPOCHS, *_PROPERTIES)


def lines_of(name: str, path: str, content: bytes, damages: Damages) -> Iterator[str]:
    """``name`` is one of NAMES."""
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        damages.add(f"{path}: is not text")
        return
    if name in _PROPERTIES:
        yield from _properties(path, _PROPERTIES[name], lines, damages)
    else:
        yield from _checkpoint(name, path, lines, damages)


def _properties(path: str, separator: str, lines: list[str], damages: Damages) -> Iterator[str]:
    for line in filter(None, map(str.strip, lines)):
        key, found, value = line.partition(separator)
        if line[0] in "#!":
            continue
        if not found:
            damages.add(f"{path}: the line {line!r} has no {separator!r}")
        else:
            yield f"{key.strip()}: {value.strip()}"


def _checkpoint(name: str, path: str, lines: list[str], damages: Damages) -> Iterator[str]:
    version, count, *entries = [*lines, "", ""] if len(lines) < 2 else lines
    yield f"version: {version} entries: {count}"
    if version != "0":
        damages.add(f"{path}: version {version!r} is unknown")
        return
    for entry in entries:
        fields = entry.split()
        line = _entry(name, fields)
        if line is None:
            damages.add(f"{path}: the line {entry!r} is no entry")
        else:
            yield line
    if count != str(len(list(filter(None, entries)))):
        damages.add(f"{path}: {count!r} entries are announced, {len(entries)} are there")


def _entry(name: str, fields: list[str]) -> str | None:
    if name == checkpoints.LEADER_EPOCHS:
        if len(fields) != 2 or not all(map(_is_number, fields)):
            return None
        return f"epoch: {fields[0]} startOffset: {fields[1]}"
    if len(fields) != 3 or not all(map(_is_number, fields[1:])):
        return None
    return f"topic: {fields[0]} partition: {fields[1]} {_MEANINGS[name]}: {fields[2]}"


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
