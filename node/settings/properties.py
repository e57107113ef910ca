"""Java properties files: key=value lines with escapes, continuations and comments.

The rules are java.util.Properties.load's: '=' or ':' or blanks part key and value, a backslash at
the end of a line joins it with the next, \\uXXXX, \\t, \\n, \\r and \\f are the only escapes with a
meaning. Files are read as UTF-8, which Java's tools write as well when asked to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from logquake.node.settings.errors import SettingsError

_BLANKS = " \t\f"
_KEY = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MEANINGS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: Path) -> dict[str, str]:
    """The file's properties. Raises SettingsError when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"cannot read {path}: it is no UTF-8 text") from error
    return parse_properties(text)


def parse_properties(text: str) -> dict[str, str]:
    """Properties of a text; of a key that comes twice, the last value."""
    properties = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        if key is None:
            continue
        separator = _SEPARATOR.match(line, key.end())
        value = line[separator.end() :] if separator else ""
        properties[_unescape(key.group())] = _unescape(value)
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blank lines, continued ones joined."""
    pending = ""
    for natural in re.split(r"\r\n|\r|\n", text):
        line = natural.lstrip(_BLANKS)
        if not pending and (not line or line[0] in "#!"):
            continue
        line = pending + line
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending = line[:-1]
            continue
        pending = ""
        yield line
    if pending:
        yield pending


def _unescape(text: str) -> str:
    def meaning(match: re.Match[str]) -> str:
        code, character = match.groups()
        return chr(int(code, 16)) if code else _MEANINGS.get(character, character)

    return _ESCAPE.sub(meaning, text)
