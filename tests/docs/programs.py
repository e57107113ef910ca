"""The programs of a document, and what it says that they print.

A program is a fenced block of Python; a block of text right behind it is all that it prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


class Program(NamedTuple):
    line: int  # of the document, where its text begins
    text: str
    prints: str


def programs(document: str) -> Iterator[Program]:
    """In order."""
    blocks = list(_BLOCK.finditer(document))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] != "python":
            continue
        is_said = (
            following is not None
            and following[1] == "text"
            and not document[block.end() : following.start()].strip()
        )
        said = following[2] if following is not None and is_said else ""
        yield Program(document.count("\n", 0, block.start(2)) + 1, block[2], said)
