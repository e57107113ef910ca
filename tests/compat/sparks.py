"""Spark within tests."""

from __future__ import annotations

import pytest

# Spark's own: deprecated calls of its dependencies, sockets left to the garbage collector.
SPARKS_WARNINGS = [
    pytest.mark.filterwarnings("default::DeprecationWarning"),
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
