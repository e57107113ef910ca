"""What a test leaks fails that test, not the one in which the collector comes upon it.

A socket that nobody closed warns when it is collected, and a warning is an error. What a failed
test left, other people's clients too, is kept alive by what it raised until the next one has begun.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

LAST_RAISED = ("last_exc", "last_type", "last_value", "last_traceback")


@pytest.fixture(autouse=True)
def leaks_are_its_own() -> Iterator[None]:
    """Begins before a test's other fixtures, so that it ends after them."""
    yield
    for name in LAST_RAISED:
        vars(sys).pop(name, None)
    gc.collect()
