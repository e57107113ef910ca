"""What is known of a suite that somebody else wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

PASSED = "passed"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "logquake", "suites")


class SuiteError(Exception):
    """It could not be fetched, or did not come to its end."""


class Suite(Protocol):
    @property
    def what(self) -> str:
        """A line for who looks for one."""
        ...

    @property
    def config(self) -> Mapping[str, object]:
        """Broker settings that its authors run it with."""
        ...

    def run(self, servers: str, scratch: Path) -> Mapping[str, str]:
        """Its outcomes by test, against the brokers at ``servers``. Raises SuiteError."""
        ...
