"""What is known of a suite that somebody else wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

PASSED = "passed"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "logquake", "suites")


class SuiteError(Exception):
    """It could not be fetched, or did not come to its end."""


@dataclass(frozen=True)
class Brokers:
    """What its authors run it against. Each broker has a listener for each of the protocols.

    From ``first_port`` on their ports stand in a row, a broker's together; without it they are any.
    """

    config: Mapping[str, object] = field(default_factory=dict)
    count: int = 1
    protocols: Sequence[str] = ("PLAINTEXT",)
    first_port: int | None = None


class Suite(Protocol):
    @property
    def what(self) -> str:
        """A line for who looks for one."""
        ...

    def brokers(self, scratch: Path) -> Brokers:
        """Files that they read may be put into ``scratch``."""
        ...

    def run(self, servers: str, scratch: Path, only: str | None) -> Mapping[str, str]:
        """Its outcomes by test, against the brokers at ``servers``. Raises SuiteError.

        With ``only`` of those tests that its runner finds by that.
        """
        ...
