"""Which paths a fault of a disk is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate


def path_pattern(pattern: str) -> Callable[[str], bool]:
    """Whether a path or its end matches: a pattern of a shell, whose * takes slashes too."""
    match = re.compile(f"(.*/)?{translate(pattern)}", re.DOTALL).match
    return lambda path: match(path) is not None
