"""The one error that the command line shows as a line."""

from __future__ import annotations


class BenchmarkError(Exception):
    """A measurement cannot be made, or must not be believed."""
