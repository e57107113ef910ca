"""The tables of a document, by the headings that they stand under."""

from __future__ import annotations

import re

_HEADING = re.compile(r"#+ (.+)")
_BETWEEN = re.compile(r"(?<!\\)\|")


def rows(document: str, heading: str) -> list[list[str]]:
    """Of all tables that stand between this heading and the next one: the cells of each line but
    a table's first two. What is in backticks, or behind a backslash, is told as it is.
    """
    found: list[list[str]] = []
    under, head = "", 0
    for line in document.splitlines():
        if (title := _HEADING.fullmatch(line)) is not None:
            under = title[1]
        head = head + 1 if line.startswith("|") else 0
        if under == heading and head > 2:
            found.append([_plain(cell) for cell in _BETWEEN.split(line)[1:-1]])
    return found


def _plain(cell: str) -> str:
    return cell.strip().replace("`", "").replace("\\|", "|")
