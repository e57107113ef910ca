"""Spark within tests."""

from __future__ import annotations

import pytest

from tests.waiting import PATIENCE_S

# Of a program that starts a Spark of its own: two JVMs, workers, and what it has to do.
SPARKS_PATIENCE_S = 5 * PATIENCE_S

# Spark's own: deprecated calls of its dependencies, sockets left to the garbage collector.
SPARKS_WARNINGS = [
    pytest.mark.filterwarnings("default::DeprecationWarning"),
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
